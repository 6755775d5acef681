// Hands the portal its token, when it begins and whenever it asks for another one.

// [embed]
const frame = document.getElementById("portal");
const portal = new URL(frame.src).origin;

addEventListener("message", async (event) => {
  if (event.source !== frame.contentWindow || event.origin !== portal) return;
  if (event.data?.type !== "posthorn-portal") return; // `state` is ready, expiring or expired.
  const answer = await fetch("/portal-token", { method: "POST" });
  if (!answer.ok) return; // Signed out: the portal says what to do.
  const { token } = await answer.json();
  const look = { "--accent": "#0b5cab", "--on-accent": "#ffffff", "--radius": "2px" };
  frame.contentWindow.postMessage({ type: "posthorn-portal", token, ...look }, portal);
});
// [/embed]
