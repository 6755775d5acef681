#!/usr/bin/env python3
"""packaging/pack, packaging/publish and the two workflows that call them."""

import os
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PACK, PUBLISH = ROOT / "packaging/pack", ROOT / "packaging/publish"
ARCHITECTURE = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True,
                              check=True).stdout.strip()

# A `gh` that keeps a release as a folder.
GH = """#!/bin/sh
echo "$@" >>"$GH_LOG"
case "$2" in
view) [ -d "$GH_RELEASE" ] || exit 1; case "$*" in *assets*) ls "$GH_RELEASE" ;; esac ;;
create) mkdir "$GH_RELEASE" ;;
upload) cp "$4" "$GH_RELEASE" ;;
esac
"""


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.out = self.folder / "dist"

    def write(self, path, text="", mode=0o644):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)
        return file

    def run_script(self, *words, environment=None):
        return subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})})


class Pack(Folder):
    def setUp(self):
        super().setUp()
        self.write("VERSION", "1.2.0-preview.1\n")
        self.write("tree/bin/posthorn", "#!/bin/sh\necho posthorn\n", 0o755)
        self.write("tree/include/posthorn/node.hpp")
        self.write("tree/share/doc/posthorn/README.md", "# Posthorn\n")
        self.write("tree/share/posthorn/posthorn.service")
        self.write("tree/share/posthorn/posthorn.example.toml")

    def pack(self, *more):
        return self.run_script(PACK, "--root", self.folder, "--tree", self.folder / "tree",
                               "--out", self.out, *more)

    def artifacts(self):
        return sorted(path.name for path in self.out.iterdir())

    def test_makes_an_archive_and_a_package(self):
        done = self.pack("--tag", "v1.2.0-preview.1")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.artifacts(), [f"posthorn-1.2.0-preview.1-linux-{ARCHITECTURE}.tar.gz",
                                            f"posthorn_1.2.0-preview.1_{ARCHITECTURE}.deb"])
        top = f"posthorn-1.2.0-preview.1-linux-{ARCHITECTURE}"
        with tarfile.open(self.out / f"{top}.tar.gz") as archive:
            self.assertTrue({f"{top}/bin/posthorn", f"{top}/include/posthorn/node.hpp"}
                            <= set(archive.getnames()), archive.getnames())
            self.assertEqual(archive.getmember(f"{top}/bin/posthorn").mode & 0o111, 0o111)

    def test_the_package_holds_program_documents_unit_and_configuration(self):
        self.pack()
        package = self.out / f"posthorn_1.2.0-preview.1_{ARCHITECTURE}.deb"
        listed = self.run_script("dpkg-deb", "-c", package).stdout
        for path in ["usr/bin/posthorn", "usr/share/doc/posthorn/README.md",
                     "usr/share/doc/posthorn/copyright", "usr/share/posthorn/posthorn.service",
                     "usr/share/posthorn/posthorn.example.toml"]:
            self.assertIn(f" ./{path}\n", listed)
        self.assertNotIn("/tmp", listed)
        self.assertEqual(self.run_script("dpkg-deb", "-f", package, "Package", "Version",
                                         "Architecture").stdout.splitlines(),
                         ["Package: posthorn", "Version: 1.2.0~preview.1",
                          f"Architecture: {ARCHITECTURE}"])

    def test_the_package_depends_on_the_libraries_of_the_program(self):
        shutil.copy(Path("/bin/sh").resolve(), self.folder / "tree/bin/posthorn")
        done = self.pack()
        self.assertEqual(done.returncode, 0, done.stdout)
        package = self.out / f"posthorn_1.2.0-preview.1_{ARCHITECTURE}.deb"
        self.assertIn("libc6", self.run_script("dpkg-deb", "-f", package, "Depends").stdout)

    def test_a_preview_comes_before_its_release(self):
        self.assertEqual(self.run_script("dpkg", "--compare-versions", "1.2.0~preview.1", "lt",
                                         "1.2.0").returncode, 0)

    def test_a_repeat_skips_what_is_there(self):
        self.pack()
        before = {path: path.stat().st_mtime_ns for path in self.out.iterdir()}
        done = self.pack()
        self.assertEqual((done.returncode, done.stdout.count("skipped")), (0, 2), done.stdout)
        self.assertEqual(before, {path: path.stat().st_mtime_ns for path in self.out.iterdir()})

    def test_a_repeat_packs_what_is_missing(self):
        self.pack()
        (self.out / f"posthorn_1.2.0-preview.1_{ARCHITECTURE}.deb").unlink()
        done = self.pack()
        self.assertEqual((done.stdout.count("skipped"), done.stdout.count("packed")), (1, 1))

    def test_the_same_files_give_the_same_archive(self):
        self.pack()
        archive = self.out / f"posthorn-1.2.0-preview.1-linux-{ARCHITECTURE}.tar.gz"
        before = archive.read_bytes()
        archive.unlink()
        self.pack()
        self.assertEqual(archive.read_bytes(), before)

    def test_refuses_a_tag_that_is_not_the_version(self):
        for tag in ["v1.2.0", "1.2.0-preview.1", "v1.2.0-preview.2", ""]:
            done = self.pack("--tag", tag)
            self.assertEqual(done.returncode, 1, tag)
            self.assertIn("VERSION says 1.2.0-preview.1", done.stdout)
        self.assertFalse(self.out.exists())

    def test_refuses_a_version_that_is_none(self):
        self.write("VERSION", "1.2\n")
        self.assertIn("write 1.2.0", self.pack().stdout)

    def test_refuses_a_tree_without_the_program(self):
        (self.folder / "tree/bin/posthorn").unlink()
        done = self.pack()
        self.assertEqual((done.returncode, self.artifacts()), (1, []))
        self.assertIn("has no bin/posthorn", done.stdout)


class Publish(Folder):
    def publish(self, tag="v1.2.0"):
        self.write("bin/gh", GH, 0o755)
        files = [self.write(f"dist/{name}", name) for name in ["a.tar.gz", "b.deb"]]
        done = self.run_script(PUBLISH, tag, *files, environment={
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "GH_RELEASE": str(self.folder / "release"), "GH_LOG": str(self.folder / "log")})
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_makes_the_release_and_adds_the_files(self):
        self.assertEqual(self.publish().count("published"), 2)
        self.assertEqual(sorted(os.listdir(self.folder / "release")), ["a.tar.gz", "b.deb"])
        self.assertNotIn("--prerelease", (self.folder / "log").read_text())

    def test_a_repeat_skips_what_the_release_has(self):
        self.publish()
        (self.folder / "release/b.deb").unlink()
        out = self.publish()
        self.assertEqual((out.count("skipped"), out.count("published")), (1, 1), out)

    def test_a_preview_is_marked_as_one(self):
        self.publish("v1.2.0-preview.1")
        self.assertIn("--prerelease", (self.folder / "log").read_text())


class Workflows(unittest.TestCase):
    def read(self, name):
        # YAML 1.1 takes the key `on` for the value true.
        made = yaml.safe_load((ROOT / ".github/workflows" / name).read_text())
        return made[True], made["jobs"]

    def commands(self, job):
        return [step["run"] for step in job["steps"] if "run" in step]

    def test_every_push_and_pull_request_is_tested(self):
        when, jobs = self.read("ci.yml")
        self.assertEqual(when, {"push": {"branches": ["**"]}, "pull_request": None})
        self.assertIn("./test", self.commands(jobs["test"]))

    def test_a_release_is_made_for_a_tag_alone(self):
        when, _ = self.read("release.yml")
        self.assertEqual(list(when), ["push"])
        self.assertEqual(when["push"], {"tags": ["v[0-9]+.[0-9]+.[0-9]+",
                                                 "v[0-9]+.[0-9]+.[0-9]+-*"]})

    def test_a_release_is_tested_before_it_is_packed_and_packed_before_it_is_published(self):
        _, jobs = self.read("release.yml")
        packing = self.commands(jobs["pack"])
        self.assertLess(packing.index("./test"),
                        packing.index('packaging/pack --tag "$GITHUB_REF_NAME" '
                                      "--build build/release --out dist"))
        self.assertEqual(jobs["publish"]["needs"], "pack")
        self.assertEqual(self.commands(jobs["publish"]),
                         ['packaging/publish "$GITHUB_REF_NAME" dist/*'])

    def test_only_publishing_may_write(self):
        for name in ["ci.yml", "release.yml"]:
            made = yaml.safe_load((ROOT / ".github/workflows" / name).read_text())
            self.assertEqual(made["permissions"], {"contents": "read"})


if __name__ == "__main__":
    unittest.main()
