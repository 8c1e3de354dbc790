/** How long to wait for the renditions, in milliseconds. */
const TIMEOUT_MS = 300_000;

/** Waits until all renditions of the demo's pictures exist. The server makes them in the background after its start. */
export async function waitForRenditions(server) {
  const deadline = Date.now() + TIMEOUT_MS;
  for (;;) {
    const rows = await Promise.all(
      ["products", "reviews", "cover_images"].map(async (table) => {
        const response = await fetch(`${server.url}/rest/v1/${table}?select=media`, {
          headers: { apikey: server.anonKey },
        });
        return await response.json();
      }),
    );
    const files = rows.flat().flatMap(({ media }) => Object.values(media));
    // A picture has a dominant colour once its renditions exist.
    if (files.length > 20 && files.every(({ kind, color }) => kind === "video" || color)) return;
    if (Date.now() > deadline) throw new Error("the demo's pictures were not made in time");
    await new Promise((done) => setTimeout(done, 250));
  }
}
