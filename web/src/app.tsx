import { useSignalEffect } from "@preact/signals";
import { answering, asking, caller, declined, signedIn, signIn, signOut, wordsOf } from "./api";
import { find } from "./find";
import { KeyHelp, showKeys } from "./keyboard";
import { health, keepLooking, stats } from "./node";
import { Dead } from "./pages/dead";
import { Destinations } from "./pages/destinations";
import { Inbox } from "./pages/inbox";
import { MessagePage } from "./pages/message";
import { Messages } from "./pages/messages";
import { Overview } from "./pages/overview";
import { count } from "./format";
import { go, pages, place } from "./route";
import { SignIn } from "./signin";
import { choose, theme, themes, type Theme } from "./theme";
import { Empty, Lamp, Notices, tell } from "./ui";

void keepLooking();

function Search() {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem("id") as HTMLInputElement;
    const id = field.value.trim();
    if (!id) return;
    field.value = "";
    field.blur();
    find(id).then(
      (found) => {
        if (found) go(found);
        else tell(`No message has the id, correlation id or order key '${id}'.`);
      },
      (thrown: unknown) => tell(wordsOf(thrown), true),
    );
  };
  return (
    <form class="search" role="search" onSubmit={submit}>
      <input name="id" type="search" data-search aria-label="Search by id" placeholder="Any id or order key  ( / )" />
    </form>
  );
}

function Themes() {
  return (
    <select
      aria-label="Colours"
      value={theme.value}
      onChange={(event) => choose(event.currentTarget.value as Theme)}
    >
      {themes.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}

function Navigation() {
  const at = place.value.name === "message" ? "messages" : place.value.name;
  const dead = stats.value?.failed ?? 0;
  return (
    <nav aria-label="Pages">
      {pages.map((page) => (
        <a key={page.name} href={page.path} aria-current={page.name === at ? "page" : undefined}>
          {page.title}
          {page.name === "dead" && dead > 0 && (
            <span class="bubble">{count(dead, stats.value?.failedAtLeast)}</span>
          )}
        </a>
      ))}
    </nav>
  );
}

function Header() {
  const seen = health.value;
  return (
    <header>
      <div class="bar">
        <a class="brand" href="/desk/">
          {seen ? <Lamp light={seen.status} /> : <span class="lamp" />}
          <span>{seen?.service ?? "Posthorn"}</span>
        </a>
        <Navigation />
        <Search />
        <div class="tools">
          <Themes />
          {signedIn.value && (
            <button
              type="button"
              onClick={() => void signOut()}
              title={`Signed in as ${caller.value?.name} (${caller.value?.role})`}
            >
              Sign out
            </button>
          )}
          <button type="button" onClick={showKeys} aria-label="Keys" title="Keys ( ? )">
            ?
          </button>
        </div>
      </div>
    </header>
  );
}

function Locked() {
  return (
    <Empty title="This node shows itself to those with a key">
      <p>A viewer's key lets you look, an operator's lets you change things.</p>
      <button type="button" class="primary" onClick={signIn}>
        Sign in
      </button>
    </Empty>
  );
}

function Page() {
  if (declined.value) return <Locked />;
  switch (place.value.name) {
    case "overview":
      return <Overview />;
    case "messages":
      return <Messages />;
    case "message":
      return <MessagePage key={place.value.id} id={place.value.id} />;
    case "dead":
      return <Dead />;
    case "destinations":
      return <Destinations />;
    case "inbox":
      return <Inbox />;
    case "unknown":
      return (
        <Empty title="There is no such page">
          <p>
            The address may have been cut off. Begin at the <a href="/desk/">overview</a>.
          </p>
        </Empty>
      );
  }
}

export function App() {
  useSignalEffect(() => {
    const seen = health.value;
    const title = pages.find((each) => each.name === place.value.name)?.title ?? "Message";
    document.title = `${title} · ${seen ? `${seen.service} (${seen.status})` : "Posthorn"}`;
  });
  return (
    <>
      <Header />
      {!answering.value && (
        <div class="banner" role="alert">
          The node does not answer. What you see is what it said last; the page goes on when it is back.
        </div>
      )}
      <main>
        <Page />
      </main>
      <footer>
        Posthorn {health.value?.version ?? ""} · <a href="/desk/assets/licences.txt">licences</a>
      </footer>
      {asking.value !== null && <SignIn />}
      <KeyHelp />
      <Notices />
    </>
  );
}
