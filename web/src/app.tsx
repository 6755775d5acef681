import { useSignalEffect } from "@preact/signals";
import { Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { answering, asking, caller, declined, signedIn, signIn, signOut, wordsOf } from "./api";
import { find } from "./find";
import { KeyHelp, showKeys } from "./keyboard";
import { health, keepLooking, routes } from "./node";
import { current, pages } from "./pages";
import { go, place } from "./route";
import { SignIn } from "./signin";
import { choose, theme, themes, type Theme } from "./theme";
import { Empty, Lamp, Notices, tell, Waiting } from "./ui";

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
      ({ address, silent }) => {
        const unheard = silent.map((each) => ` '${each}' did not answer.`).join("");
        if (address) go(address);
        else tell(`No message has the id, correlation id or order key '${id}'.${unheard}`);
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
  const own = useRef<HTMLElement>(null);
  const { name } = place.value;
  useEffect(() => {
    own.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [name, pages.value.length]);
  return (
    <nav aria-label="Pages" ref={own}>
      {pages.value.map((page) => {
        const bubble = page.bubble?.();
        return (
          <a
            key={page.name}
            href={`/desk/${page.name}`}
            aria-current={page.name === name ? "page" : undefined}
          >
            {page.title}
            {bubble && <span class="bubble">{bubble}</span>}
          </a>
        );
      })}
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

function Unknown({ title, text }: { title: string; text: string }) {
  return (
    <Empty title={title}>
      <p>
        {text} Begin at the <a href="/desk/">overview</a>.
      </p>
    </Empty>
  );
}

function Page() {
  if (declined.value) return <Locked />;
  const page = current.value;
  const { name, id } = place.value;
  if (!page || (id && !page.showOne))
    return <Unknown title="There is no such page" text="The address may have been cut off." />;
  if (page.needs && !routes.value) return <Waiting />;
  if (!pages.value.includes(page))
    return <Unknown title={`This node has no page '${page.title}'`} text="Its version or its configuration lacks it." />;
  if (id && page.showOne) return <Fragment key={`${name}/${id}`}>{page.showOne(id)}</Fragment>;
  return (
    <Fragment key={name}>
      {page.show()}
      {name === "" && pages.value.map((each) => <Fragment key={each.name}>{each.onOverview?.()}</Fragment>)}
    </Fragment>
  );
}

export function App() {
  useSignalEffect(() => {
    const seen = health.value;
    const page = current.value?.title ?? "Desk";
    const title = place.value.id ? `${page}: ${place.value.id}` : page;
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
