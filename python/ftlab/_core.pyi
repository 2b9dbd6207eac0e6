from collections.abc import Callable

__version__: str

class Workload:
    @staticmethod
    def parse(text: str) -> Workload: ...
    @staticmethod
    def trace(path: str, volumes: list[str], settings: dict[str, str]) -> Workload: ...
    @property
    def name(self) -> str: ...

def run(
    workload: Workload,
    ftls: list[str],
    settings: dict[str, str],
    progress: Callable[[str, int, float | None, list[float | None]], None] | None,
) -> str: ...
