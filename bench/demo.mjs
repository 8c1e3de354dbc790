/** How long to wait for the renditions. */
const TIMEOUT_MS = 300_000;

/** Waits until the server has made the renditions of the demo's pictures, which it does in the background after its start. */
export async function waitForRenditions(server) {
  const end = Date.now() + TIMEOUT_MS;
  for (;;) {
    const rows = await Promise.all(
      ["products", "reviews", "cover_images"].map(async (table) => {
        const answer = await fetch(`${server.url}/rest/v1/${table}?select=media`, {
          headers: { apikey: server.anonKey },
        });
        return await answer.json();
      }),
    );
    const files = rows.flat().flatMap(({ media }) => Object.values(media));
    if (files.length > 20 && files.every(({ kind, color }) => kind === "video" || color)) return;
    if (Date.now() > end) throw new Error("the demo's pictures were not made in time");
    await new Promise((done) => setTimeout(done, 250));
  }
}
