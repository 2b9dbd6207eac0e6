"""Four MariaDB servers under TPC-C on one drive (2R, PVLDB 2020, figure 13)."""

from databases import NEEDS, Database, live
from mariadb import PROGRAMS, MariaDb
from system import need


class Tenants(Database):
    name = "tenants"
    drive_mib = 1280
    # Enough for ten minutes: each tenant is slower than one alone.
    growth_mib = 256
    grows = False

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        places = [self.place.with_name(f"tenant-{number}") for number in range(4)]
        self.tenants = [MariaDb(place, self.outside, self.short) for place in places]

    def create(self) -> None:
        for tenant in self.tenants:
            tenant.create()

    def start(self) -> None:
        for tenant in self.tenants:
            tenant.start()

    def work(self, seconds: float) -> dict:
        loads = [tenant.begin_timed_work(seconds) for tenant in self.tenants]
        rates = [
            tenant.end_timed_work(load) for tenant, load in zip(self.tenants, loads, strict=True)
        ]
        return {"transactions per second": rates}

    def begin_work(self) -> None:
        for tenant in self.tenants:
            tenant.begin_work()

    def kill(self) -> None:
        for tenant in self.tenants:
            tenant.kill()

    def verify(self) -> dict:
        return {tenant.place.name: tenant.verify() for tenant in self.tenants}

    def stop(self) -> None:
        for tenant in self.tenants:
            tenant.stop()


def main(options) -> list[dict]:
    """The program `tenants`."""
    need(*NEEDS, *PROGRAMS, root=True)
    return [live(options, Tenants)]
