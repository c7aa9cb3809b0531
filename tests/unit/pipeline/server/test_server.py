"""Commands that go to a server: they behave as without one, whoever is killed."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

from lssc.pipeline.server.client import OFF, VARIABLE
from lssc.pipeline.server.serving import serving

# Modules that a server runs: what they print tells who ran them.
MODULES = {
    "__init__": "from lssc.pipeline.server.client import hand_over; hand_over()",
    "facts": """
        import json, os, sys
        print(json.dumps({"argv": sys.argv[1:], "name": __name__, "folder": os.getcwd(), "pid": os.getpid(),
                          "word": os.environ.get("WORD"), "served": not sys.orig_argv[2].startswith("served"),
                          "variable": os.environ.get("LSSC_SERVER"), "input": sys.stdin.read()}))
        """,
    "ending": "import sys; exec(sys.argv[1])",
    "slow": """
        import os, pathlib, sys, time
        folder = pathlib.Path(sys.argv[1])
        (folder / "started").write_text(str(os.getpid()))
        while not (folder / "go").exists():
            time.sleep(0.01)
        with (folder / "ended").open("a") as file:
            file.write(f"{os.getpid()}\\n")
        """,
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "modules" / "served"
    folder.mkdir(parents=True)
    for name, text in MODULES.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
    paths = [str(folder.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


@pytest.fixture
def server(package):
    with serving() as server:
        yield server


def command(module, *arguments):
    return [sys.executable, "-m", f"served.{module}", *arguments]


def run(module, *arguments, **options):
    options = {"capture_output": True, "text": True, "timeout": 60, **options}
    return subprocess.run(command(module, *arguments), check=False, **options)


def wait_for(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def begin(folder):
    """A job that ends when it is told to; its process here, and that of the job."""
    client = subprocess.Popen(command("slow", str(folder)))
    wait_for(lambda: (folder / "started").exists() and (folder / "started").read_text())
    return client, psutil.Process(int((folder / "started").read_text()))


def is_alive(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_job_has_arguments_folder_environment_and_streams_of_its_command(server, tmp_path):
    given = {"cwd": tmp_path, "env": {**os.environ, "WORD": "käse"}, "input": "in"}
    facts = json.loads(run("facts", "--a", "b c", "", **given).stdout)
    assert facts.pop("pid") != os.getpid()
    assert facts == {
        "argv": ["--a", "b c", ""],
        "name": "__main__",
        "folder": str(tmp_path),
        "word": "käse",
        "served": True,
        "variable": None,
        "input": "in",
    }


def test_every_job_has_a_process_of_its_own(server):
    first, second = (json.loads(run("facts", input="").stdout) for _ in range(2))
    assert first["pid"] != second["pid"]


@pytest.mark.parametrize(
    ("code", "expected", "message"),
    [
        ("pass", 0, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(7)", 7, ""),
        ("sys.exit('no such file')", 1, "no such file\n"),
        ("raise ValueError('x')", 1, "ValueError: x\n"),
        ("import os; os._exit(9)", 9, ""),
        ("import os; os.kill(os.getpid(), 9)", 128 + 9, ""),
    ],
    ids=["end", "exit", "number", "message", "error", "at once", "killed"],
)
def test_command_ends_as_its_job(server, code, expected, message):
    done = run("ending", code)
    assert done.returncode == expected
    assert done.stderr.endswith(message)


def test_two_jobs_run_side_by_side(server, tmp_path):
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    clients = [begin(folder)[0] for folder in folders]
    for folder in reversed(folders):
        (folder / "go").touch()
    assert [client.wait(timeout=30) for client in clients] == [0, 0]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killed_command_takes_its_job_along(server, tmp_path, number):
    client, job = begin(tmp_path)
    client.send_signal(number)
    client.wait(timeout=30)
    wait_for(lambda: not is_alive(job))
    assert not (tmp_path / "ended").exists()
    assert run("ending", "pass").returncode == 0


def test_job_that_ignores_the_end_is_killed(server, tmp_path):
    held = "import signal, time, pathlib; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    held += f"import os; pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid())); time.sleep(60)"
    client = subprocess.Popen(command("ending", held))
    wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    job = psutil.Process(int((tmp_path / "pid").read_text()))
    client.kill()
    client.wait(timeout=30)
    wait_for(lambda: not is_alive(job))


def test_dead_server_harms_nobody(server, tmp_path):
    """Jobs under way end as they would; later commands run by themselves."""
    client, job = begin(tmp_path)
    assert job.pid != client.pid
    server.kill()
    server.wait(timeout=30)
    (tmp_path / "go").touch()
    assert client.wait(timeout=30) == 0
    assert (tmp_path / "ended").read_text() == f"{job.pid}\n"
    assert json.loads(run("facts", input="").stdout)["served"] is False


def test_dead_importer_harms_nobody(server, tmp_path):
    """The job ends without a word, so its command runs itself, after the job; the server imports the module anew."""
    client, job = begin(tmp_path)
    job.parent().kill()
    (tmp_path / "go").touch()
    assert client.wait(timeout=30) == 0
    assert (tmp_path / "ended").read_text() == f"{job.pid}\n{client.pid}\n"
    served = [json.loads(run("facts", input="").stdout)["served"] for _ in range(2)]
    assert served == [True, True]


def test_server_ends_with_its_run(package):
    with serving() as server:
        run("ending", "pass")
        family = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
        assert len(family) == 2
    wait_for(lambda: not any(map(is_alive, family)))
    assert VARIABLE not in os.environ


def test_server_ends_with_the_process_that_started_it(package, tmp_path):
    code = f"""
        import os, time
        from lssc.pipeline.server.serving import serving
        with serving() as server:
            open({str(tmp_path / "pid")!r}, "w").write(str(server.pid))
            time.sleep(60)
        """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
    wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    server = psutil.Process(int((tmp_path / "pid").read_text()))
    parent.kill()
    parent.wait(timeout=30)
    wait_for(lambda: not is_alive(server))


def test_server_that_hangs_is_killed_at_the_end_of_the_run(package, monkeypatch):
    monkeypatch.setattr("lssc.pipeline.server.serving.END_SECONDS", 0.2)
    with serving() as server:
        os.kill(server.pid, signal.SIGSTOP)
    assert server.returncode == -signal.SIGKILL


def test_command_without_a_server_runs_by_itself(package, monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert json.loads(run("facts", input="").stdout)["served"] is False
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nobody"))
    assert json.loads(run("facts", input="").stdout)["served"] is False


def test_server_may_be_turned_off(package, monkeypatch):
    monkeypatch.setenv(VARIABLE, OFF)
    with serving() as server:
        assert server is None
        assert json.loads(run("facts", input="").stdout)["served"] is False
    assert os.environ[VARIABLE] == OFF


def test_runs_share_the_server_of_whoever_started_them(server):
    address = os.environ[VARIABLE]
    with serving() as second:
        assert second is None
        assert json.loads(run("facts", input="").stdout)["served"] is True
    assert os.environ[VARIABLE] == address
    assert server.poll() is None


def test_module_that_cannot_be_imported_is_reported_as_without_a_server(server):
    done = run("missing")
    assert done.returncode == 1
    assert "No module named served.missing" in done.stderr


def test_importing_a_stage_hands_nothing_over(server):
    code = "import lssc.pipeline.stages.score_labels; print('here')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "here\n"
