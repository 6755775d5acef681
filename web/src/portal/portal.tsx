// What subscribers see: their own endpoints. The pages are those of the desk, without what is for operators.

import { here, takeClicks } from "../address";
import { asking } from "../answer";
import { WebhookPage } from "../pages/webhook";
import { Webhooks } from "../pages/webhooks";
import { Dialog, Failure, Notices, Waiting } from "../ui";
import { WebhookContext, type WebhookAsk } from "../webhook_ask";
import { failure, get, grant, offered, post, tryAgain, type Grant } from "./access";
import { embedded } from "./embedder";

const home = location.pathname;

takeClicks((link) => link.pathname === home);

function askAs(who: Grant): WebhookAsk {
  return {
    get,
    post,
    link: (id) => (id ? `${home}?endpoint=${encodeURIComponent(id)}` : home),
    mayChange: who.rights.split(",").includes("write"),
  };
}

/// There is no one to show anything of yet.
function Outside() {
  if (asking.value !== null) return null; // A dialog says why.
  if (failure.value) return <Failure why={failure.value} again={tryAgain} />;
  if (offered.value) return <Waiting />;
  return (
    <div class="empty">
      <h1>This page does not know who you are</h1>
      {embedded ? (
        <p>The page around it has not said so yet. If this stays, load that page anew.</p>
      ) : (
        <p>
          It shows the webhooks of one account, by a link that is made for you and holds for a while. Go back to the
          service whose webhooks these are, and open it from there.
        </p>
      )}
    </div>
  );
}

function Ended({ why }: { why: string }) {
  return (
    <Dialog title={why} onClose={() => {}}>
      {embedded ? (
        <p>Load the page around this one anew, or sign in there again. It goes on here as soon as that page says so.</p>
      ) : (
        <p>Go back to the service whose webhooks these are, and open this page from there again.</p>
      )}
      {grant.value && <p class="quiet">What you had changed is kept.</p>}
    </Dialog>
  );
}

function Inside({ who }: { who: Grant }) {
  const ask = askAs(who);
  const id = here.value.searchParams.get("endpoint");
  return (
    <WebhookContext.Provider value={ask}>
      {id && (
        <nav aria-label="Pages">
          <a href={home}>All endpoints</a>
        </nav>
      )}
      {id ? <WebhookPage key={id} id={id} /> : <Webhooks />}
    </WebhookContext.Provider>
  );
}

export function Portal() {
  const who = grant.value;
  return (
    <>
      {who && (
        <header>
          <p>
            <strong>{who.tenant}</strong>
            {!who.rights.includes("write") && <span class="quiet"> You can look here, and change nothing.</span>}
          </p>
        </header>
      )}
      <main>{who ? <Inside key={who.tenant} who={who} /> : <Outside />}</main>
      <footer>
        <a href="assets/licences.txt" target="_blank" rel="noopener noreferrer">
          Licences
        </a>
      </footer>
      {asking.value !== null && <Ended why={asking.value} />}
      <Notices />
    </>
  );
}
