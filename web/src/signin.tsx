import { asking, ended, giveKey, giveNoKey, remark, wordsOf } from "./api";
import { Dialog, tell } from "./ui";

/// Asks for an admin key when the node has refused without one.
export function SignIn() {
  const why = asking.value;
  if (why === null) return null;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement).get("key");
    if (typeof given === "string" && given.trim())
      giveKey(given).catch((thrown: unknown) => tell(wordsOf(thrown), true));
  };
  return (
    <Dialog title={ended.value ? "Your session has ended" : "This needs an admin key"} onClose={giveNoKey}>
      <form onSubmit={submit}>
        {remark.value && <p role="alert">{remark.value}</p>}
        <label>
          Key
          <input name="key" type="password" autocomplete="off" placeholder="phk_…" autofocus />
        </label>
        <p class="hint">
          <code>posthorn keys admin new</code> makes one. You stay signed in for eight hours, or until you sign
          out or the key is taken back.
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
