/* unspool: the list that a session is opened from is remembered, so that it can stand beside the session. */
function list() {
  const given = new URLSearchParams(location.search), project = /^\/projects\/([^/]+)\/?$/.exec(location.pathname);
  given.delete("page");
  if (project) given.set("project", decodeURIComponent(project[1]));
  if (project || /^\/(?:sessions)?$/.test(location.pathname)) return new URLSearchParams({ in: given });
  const links = Array.from(document.querySelectorAll('main a[href^="/s/"]'), (link) => link.pathname.split("/")[2]);
  return new URLSearchParams(Array.from(new Set(links)).slice(0, 100).map((key) => ["key", decodeURIComponent(key)]));
}
/** This tab goes on with it; one that is opened from here has no memory of its own yet, and begins with the last. */
function remember(event) {
  if (location.pathname.startsWith("/s/") || !event.target.closest?.('main a[href^="/s/"]')) return;
  try {
    const kept = JSON.stringify({ back: location.pathname + location.search, ask: String(list()).slice(0, 6000) });
    for (const place of [sessionStorage, localStorage]) place.setItem("unspool-list", kept);
  } catch { /* storage may be forbidden, an address odd: then it is the list of all */ }
}
for (const use of ["click", "auxclick"]) document.addEventListener(use, remember, true);
