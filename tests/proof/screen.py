"""What people see of a run: a bar that moves, the findings, and the table at the end."""

import textwrap


WIDTH = 24
LINE_INTERVAL = 60  # Seconds between two lines where there is no terminal.


def clock(seconds):
    seconds = int(seconds)
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


def part_done(job):
    return min(1.0, job.done / job.rounds) if job.rounds else 0.0


def progress(working, ended, waiting, limit, elapsed):
    """How much of all is done, from 0 to 1, by the share that each job has."""
    everything = sum(job.weight for job in working + ended + waiting)
    done = sum(job.weight for job in ended) + sum(job.weight * part_done(job) for job in working)
    share = done / everything if everything else 1.0
    return max(share, min(1.0, elapsed / limit)) if limit else share


class Screen:
    def __init__(self, out):
        self.out, self.moves, self.last_line = out, out.isatty(), 0.0

    def draw(self, working, ended, waiting, limit, elapsed):
        if not self.moves and elapsed - self.last_line < LINE_INTERVAL:
            return
        self.last_line = elapsed
        share = progress(working, ended, waiting, limit, elapsed)
        bar = "#" * round(share * WIDTH)
        now = ", ".join(f"{job.name} {job.done:,}/{job.rounds:,}" for job in working)
        time = clock(elapsed) + (f" of {clock(limit)}" if limit else "")
        text = f"[{bar:.<{WIDTH}}] {share:4.0%}  {time}  {now}"
        self.out.write(f"\r\033[K{text[:200]}" if self.moves else text + "\n")
        self.out.flush()

    def clear(self):
        if self.moves:
            self.out.write("\r\033[K")

    def tell(self, job):
        """What was found is shown at once: the run may go on for hours."""
        if not job.failed:
            return
        self.clear()
        self.out.write(f"{job.name} found something; all of it is in {job.log}:\n")
        self.out.write("".join(f"  {line}\n" for line in job.text().splitlines()[-60:]))
        self.out.flush()

    @staticmethod
    def table(rows, took, seed):
        heads = {key: key for key in ("harness", "done", "of", "unit", "time", "result")}
        shown = [heads] + [{"harness": row["harness"], "done": f"{row['done']:,}",
                            "of": f"{row['of']:,}", "unit": row["unit"],
                            "time": clock(row["seconds"]), "result": row["result"]}
                           for row in rows]
        widths = {key: max(len(row[key]) for row in shown) for key in heads}
        for number, row in enumerate(shown):
            print("| " + " | ".join(
                f"{row[key]:>{widths[key]}}" if key in ("done", "of", "time") and number
                else f"{row[key]:<{widths[key]}}" for key in heads) + " |")
            if number == 0:
                print("|" + "|".join("-" * (widths[key] + 2) for key in heads) + "|")
        print()
        for row in rows:
            seen = ", ".join(f"{number:,} {what}" for what, number in row["counts"].items())
            if seen:
                print(textwrap.fill(f"{row['harness']}: {seen}", 100, subsequent_indent="    "))
        held = sum(row["result"] == "held" for row in rows)
        print(f"\n{held} of {len(rows)} held, in {clock(took)}"
              + (f", with seeds from {seed} on" if seed is not None else ""))


def summary(harnesses, ended):
    """A row for each harness: its jobs together."""
    rows = []
    for harness in harnesses:
        jobs = [job for job in ended if job.harness is harness]
        counts = {}
        for job in jobs:
            for what, number in job.counts.items():
                counts[what] = counts.get(what, 0) + number
        begun = [job for job in jobs if job.process]
        result = ("FAILED" if any(job.failed for job in jobs) else "not run" if not begun
                  else "broken off" if len(begun) < len(jobs) or any(job.broken_off for job in jobs)
                  else "held")
        rows.append({"harness": harness.name, "done": sum(job.done for job in jobs),
                     "of": sum(job.rounds for job in jobs), "unit": harness.unit,
                     "counts": counts, "seconds": round(sum(job.seconds for job in jobs), 1),
                     "result": result})
    return rows
