import { asking, giveKey, giveNoKey, signedIn } from "./api";
import { Dialog } from "./ui";

/// Asks for an admin key when the node has refused without one.
export function SignIn() {
  const why = asking.value;
  if (why === null) return null;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement).get("key");
    if (typeof given === "string" && given.trim()) giveKey(given);
  };
  return (
    <Dialog title={signedIn.value ? "This key does not do" : "This needs an admin key"} onClose={giveNoKey}>
      <form onSubmit={submit}>
        <label>
          Key
          <input name="key" type="password" autocomplete="off" placeholder="phk_…" autofocus />
        </label>
        <p class="hint">
          <code>posthorn keys admin new</code> makes one. The page keeps it in memory: closing or reloading it
          forgets the key.
        </p>
        <details>
          <summary>What the node said</summary>
          <p>{why}</p>
        </details>
        <div class="actions">
          <button type="button" onClick={giveNoKey}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Go on
          </button>
        </div>
      </form>
    </Dialog>
  );
}
