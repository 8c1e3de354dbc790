const UNTIL_MADE_MS = 300_000;

/** The demo's pictures are made in the background after the server has started. */
export async function made(server) {
  const end = Date.now() + UNTIL_MADE_MS;
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
