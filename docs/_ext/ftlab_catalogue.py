"""Pages generated from the program itself: every FTL, every list, every command.

Before Sphinx reads anything, this runs `ftlab list ... --json`, `ftlab COMMAND --help` and the examples of
`examples.toml`, has `ftlab advise` draw each FTL, takes the doc comment of each FTL's file, and writes Markdown
into `docs/generated/`. The command is that of the Python package, which the site needs anyway. So no page can be out of date, and
no registered name can be missing: an FTL without a doc comment stops the build.

In all pages, `2r++` and `ftlab run ...` in inline code become links to the pages about them.
"""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from catalogue_examples import example_pages, lines_of
from catalogue_notebooks import add_download, run_notebooks, write_notebooks
from docutils import nodes
from sphinx.errors import ExtensionError

DOCS = Path(__file__).parent.parent
REPOSITORY = DOCS.parent
GENERATED = DOCS / "generated"
FTL_SOURCES = REPOSITORY / "crates" / "ftlab-ftl" / "src"

KINDS = {"ftl": "ftls", "placement": "placements", "victim": "victims"}
INTRODUCTIONS = {
    "ftl": [
        "# Every FTL",
        "These pages are generated from the doc comments of the files that implement the FTLs, and from the "
        "registry that `ftlab list ftls` prints. Any [placement](../placements/index.md) combined with any "
        "[victim rule](../victims/index.md) is a page-mapped FTL too, written `PLACEMENT/VICTIM`, such as "
        "`sep-gc/cost-benefit`. Parameters follow after a colon: `2r++:blk-util=0.4,scan-depth=0.9`.",
    ],
    "placement": [
        "# Every placement",
        "Where pages go: the part of an FTL's name before the slash, as in `sep-gc/cost-benefit`.",
    ],
    "victim": [
        "# Every victim rule",
        "Which blocks are collected: the part of an FTL's name after the slash, as in `sep-gc/cost-benefit`.",
    ],
}
LISTS = {
    "workloads": "Every workload generator",
    "formats": "Every trace format",
    "timings": "Every timing",
}
# Names that are also ordinary words.
AMBIGUOUS = {"page", "fifo"}


def setup(app):
    app.connect("builder-inited", generate)
    app.connect("source-read", add_experiments)
    app.connect("source-read", add_download)
    app.connect("source-read", join_alternatives)
    app.connect("doctree-resolved", link_names)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def generate(app):
    """Writes all pages."""
    ftlab = Path(sys.executable).parent / "ftlab"
    entries = listed(ftlab, "ftls")
    pages = ftl_pages(entries)
    for what, title in LISTS.items():
        pages[f"{what}.md"] = list_page(what, title, listed(ftlab, what))
    pages["metrics.md"] = metrics_page(listed(ftlab, "metrics"))
    commands = subcommands(ftlab, [])
    # What takes a while is done again when the package has changed.
    version = Path(app.config.nb_execution_cache_path).name
    draw_ftls(ftlab, entries, version)
    examples = example_pages(ftlab, commands, GENERATED, version)
    for command in commands:
        pages[f"commands/{command}.md"] = command_page(ftlab, [command], "#", examples[command])
    pages["commands/index.md"] = commands_page(ftlab, commands)
    write_pages(pages)
    write_notebooks(GENERATED)
    run_notebooks(app.config.nb_execution_cache_path, app.config.nb_execution_timeout)
    app.env.ftlab_pages = link_targets(pages)


def run_ftlab(ftlab, *arguments):
    run = subprocess.run([ftlab, *arguments], capture_output=True, text=True)
    if run.returncode:
        raise ExtensionError(f"ftlab {' '.join(map(str, arguments))}: {run.stderr}")
    return run.stdout


def listed(ftlab, what):
    return json.loads(run_ftlab(ftlab, "list", what, "--json"))


def write_pages(pages):
    """Writes only what has changed, so that Sphinx reads nothing else again."""
    for path in GENERATED.rglob("*.md"):
        if str(path.relative_to(GENERATED)) not in pages:
            path.unlink()
    for name, text in pages.items():
        path = GENERATED / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


# FTLs


def ftl_pages(entries):
    """A page for each name, and their index."""
    comments = doc_comments()
    pages = {f"{KINDS[entry['kind']]}/{entry['name']}.md": ftl_page(entry, comments) for entry in entries}
    for kind, folder in KINDS.items():
        pages[f"{folder}/index.md"] = kind_index(kind, [entry for entry in entries if entry["kind"] == kind])
    return pages


def doc_comments():
    """The doc comment of each file that registers a name, by kind and name."""
    found = {}
    for path in sorted(FTL_SOURCES.rglob("*.rs")):
        text = path.read_text()
        name = re.search(r'const NAME: &\'static str = "([^"]+)";', text)
        if name:
            kind = path.parent.name if path.parent.name in ("placement", "victim") else "ftl"
            lines = re.findall(r"^//!(?: (.*))?$", text, re.MULTILINE)
            found[kind, name[1]] = "\n".join(lines)
    return found


def ftl_page(entry, comments):
    kind, name, usage = entry["kind"], entry["name"], usage_of(entry)
    head = [f"# {name}", f"*{sentence(entry['summary'])}* Source: {entry['source']}."]
    use = f"```console\n$ ftlab run trace.parquet --ftl {usage}\n```"
    table = parameter_table(entry["parameters"])
    pair = re.search(r"\(= ([^/ ]+)/([^/ )]+)\)", entry["summary"])
    if (kind, name) in comments:
        body = markdown(comments[kind, name])
    elif pair:
        placement, victim = pair.groups()
        body = (
            f"A name for a pair: the placement [{placement}](../placements/{placement}.md) decides where pages "
            f"go, and the victim rule [{victim}](../victims/{victim}.md) which blocks are collected."
        )
    else:
        raise ExtensionError(f"{kind} {name} is registered, but no file with a doc comment defines it")
    return "\n\n".join([*head, use, body, "## At work", picture(entry), "## Values", table]) + "\n"


def usage_of(entry):
    """The FTL that shows a name at work: a placement or victim rule with its plainest partner."""
    name = entry["name"]
    return {"ftl": name, "placement": f"{name}/greedy", "victim": f"sep-gc/{name}"}[entry["kind"]]


# The small workload that all FTLs are drawn on.
DRAWN = ["hotcold:writes=0.9,pages=0.1", "--logical", "64MiB", "--once"]
DRAWN_AT = ["--op", "7%,10%,15%,20%,28%,40%", "--target-waf", "1.5"]


def rival(entry):
    return "fifo" if usage_of(entry) == "1r-greedy" else "1r-greedy"


def picture(entry):
    """The figure of an FTL, and the command that draws it."""
    usage, other = usage_of(entry), rival(entry)
    text = (
        f"Write amplification of `{usage}` and {other} over over-provisioning, on a drive of 64 MiB of which a tenth "
        "of the pages takes nine tenths of the writes, over four drive writes; a dot is where it reaches 1.5:"
    )
    figure = (
        f"![{usage} and {other}: write amplification falls as over-provisioning grows]({figure_path(entry)})"
    )
    command = " ".join(
        ["ftlab advise", *DRAWN, f"--ftl {usage} --ftl {other}", *DRAWN_AT, "--figure curve.svg"]
    )
    return f"{text}\n\n{figure}\n\n```console\n$ {lines_of(command)}\n```"


def figure_path(entry):
    return f"../figures/{entry['kind']}-{entry['name']}.svg"


def draw_ftls(ftlab, entries, version):
    """Draws every FTL, unless this version of the package did."""
    folder = GENERATED / "figures"
    drawn = folder / "version"
    if drawn.exists() and drawn.read_text() == version:
        return
    folder.mkdir(parents=True, exist_ok=True)

    def draw(entry):
        pair = ["--ftl", usage_of(entry), "--ftl", rival(entry)]
        figure = folder / Path(figure_path(entry)).name
        run_ftlab(ftlab, "advise", *DRAWN, *pair, *DRAWN_AT, "--figure", figure)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(draw, entries))
    drawn.write_text(version)


def markdown(comment):
    """A doc comment as the body of a page: headings one level down, links into rustdoc as code."""
    _, _, body = comment.partition("\n# ")
    body = re.sub(r"^# ", "## ", "# " + body, flags=re.MULTILINE)
    body = re.sub(r"\[(`[^`]+`)\](?:\([^)]*\))?", r"\1", body)
    return re.sub(r"(?<=\S)\*(?=\S)", r"\\*", body)


def parameter_table(parameters):
    if not parameters:
        return "It has no parameters."
    groups = list(dict.fromkeys(p.get("group", "") for p in parameters))
    if len(groups) > 1:
        by_group = ([p for p in parameters if p.get("group", "") == group] for group in groups)
        tables = (parameter_lines(of_group) for of_group in by_group)
        return "\n\n".join(f"Of the {group}:\n\n{table}" for group, table in zip(groups, tables, strict=True))
    return parameter_lines(parameters)


def parameter_lines(parameters):
    lines = ["| parameter | default | values | | default from |", "|---|---|---|---|---|"]
    for p in parameters:
        default = f"`{p['default']}`" if p["default"] else "empty"
        cells = [f"`{p['name']}`", default, p["expects"], p["doc"], p["source"]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def sentence(text):
    return text[0].upper() + text[1:].rstrip(".") + "."


def kind_index(kind, entries):
    rows = [f"| [{e['name']}]({e['name']}.md) | {e['summary']} | {e['source']} |" for e in entries]
    table = "\n".join(["| name | what it does | source |", "|---|---|---|", *rows])
    names = [entry["name"] for entry in entries]
    return "\n\n".join([*INTRODUCTIONS[kind], table, toctree(names)]) + "\n"


def toctree(pages):
    return "\n".join(["```{toctree}", ":hidden:", "", *pages, "```"])


# Lists


def list_page(what, title, items):
    parts = [f"# {title}", f"What `ftlab list {what}` prints."]
    for item in items:
        parts += [f"## {item['name']}", f"{sentence(item['summary'])} Source: {item['source']}."]
        if item.get("extensions"):
            written = "read and written" if item["written"] else "read only"
            parts.append(f"Files: .{', .'.join(item['extensions'])}; {written}.")
        parts.append(parameter_table(item["parameters"]))
    return "\n\n".join(parts) + "\n"


def metrics_page(items):
    """Everything that results tell, by what it is told of."""
    parts = [
        "# Every number of a result",
        "What `ftlab list metrics` prints. Names with dots are places in `ftlab run --json`, below `runs[]`.",
    ]
    for scope in dict.fromkeys(item["scope"] for item in items):
        lines = [
            "| name | kind | unit | | from | in sweeps | in series.parquet |",
            "|---|---|---|---|---|---|---|",
        ]
        for item in (item for item in items if item["scope"] == scope):
            names = [f"`{item[key]}`" if key in item else "" for key in ("sweep", "series")]
            cells = [f"`{item['name']}`", item["kind"], item["unit"], item["doc"], item["source"], *names]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        parts += [f"## Of a {scope}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


# Commands


def subcommands(ftlab, path):
    """The names below a command, as its help lists them."""
    _, _, listed = run_ftlab(ftlab, *path, "--help").partition("\nCommands:\n")
    block = listed.split("\n\n")[0]
    names = re.findall(r"^  ([a-z][a-z-]*)", block, re.MULTILINE)
    return [name for name in names if name != "help"]


def command_page(ftlab, path, level, examples=""):
    help_text = run_ftlab(ftlab, *path, "--help").rstrip()
    parts = [f"{level} ftlab {' '.join(path)}", f"```text\n{help_text}\n```"]
    if examples:
        parts += [f"{level}# Examples", examples]
    parts += [command_page(ftlab, [*path, name], level + "#").rstrip() for name in subcommands(ftlab, path)]
    return "\n\n".join(parts) + "\n"


def commands_page(ftlab, commands):
    rows = [f"| [ftlab {name}]({name}.md) | {first_paragraph(ftlab, name)} |" for name in commands]
    parts = [
        "# Every command",
        "What `ftlab COMMAND --help` prints, and examples with their output. `ftlab man COMMAND` prints manual pages, and "
        "`ftlab completions SHELL` completion scripts.",
        "\n".join(["| command | |", "|---|---|", *rows]),
        toctree(commands),
    ]
    return "\n\n".join(parts) + "\n"


def first_paragraph(ftlab, name):
    return " ".join(run_ftlab(ftlab, name, "--help").split("\n\n")[0].split())


# Reproduction


def add_experiments(app, docname, source):
    """Adds the pages of experiments below their table, which `ftlab reproduce` writes."""
    if docname == "reproduction/README":
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*/*\n```\n"


# Pictures


def join_alternatives(app, docname, source):
    """Joins the lines of what stands for a picture, whose words would run into each other."""
    source[0] = re.sub(r"!\[[^]]+\]\(", lambda found: found[0].replace("\n", " "), source[0])


# Links


def link_targets(pages):
    """The page of each inline code text that has one."""
    targets = {}
    for name in sorted(pages):
        folder, _, file = name.removesuffix(".md").rpartition("/")
        page = "generated/" + name.removesuffix(".md")
        if folder == "commands" and file != "index":
            targets[f"ftlab {file}"] = page
        elif folder in KINDS.values() and file not in AMBIGUOUS | {"index"}:
            targets.setdefault(file, page)
    return targets


def link_names(app, doctree, docname):
    targets = app.env.ftlab_pages
    for literal in list(doctree.findall(nodes.literal)):
        text = literal.astext()
        words = text.split()
        command = words[:2] if words[:1] == ["ftlab"] else words
        page = targets.get(" ".join(command))
        inside = isinstance(literal.parent, (nodes.reference, nodes.title))
        if page and page != docname and not inside and (command is not words or len(words) == 1):
            uri = app.builder.get_relative_uri(docname, page)
            link = nodes.reference("", "", internal=True, refuri=uri)
            literal.replace_self(link)
            link += literal
