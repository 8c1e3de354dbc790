import { chromium } from "@playwright/test";
const url = "http://127.0.0.1:8123";
const b = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
for (const [w, h, d] of [
  [390, 844, 3],
  [768, 1024, 2],
  [1440, 900, 1],
]) {
  const c = await b.newContext({
    viewport: { width: w, height: h },
    deviceScaleFactor: d,
    colorScheme: process.argv[2] ?? "light",
  });
  const p = await c.newPage();
  p.on(
    "console",
    (m) => ["error", "warning"].includes(m.type()) && console.log(m.text(), m.location().url),
  );
  p.on("pageerror", (e) => console.log(String(e)));
  const look = async (name) => {
    await p.waitForTimeout(1500);
    const r = await p.evaluate(() =>
      [...document.images]
        .map((i) => {
          const q = /width=(\d+)/.exec(i.currentSrc)?.[1];
          const x = i.getBoundingClientRect();
          const ratio = i.naturalWidth / i.naturalHeight;
          const cov = getComputedStyle(i).objectFit === "cover";
          const painted = (cov ? Math.max(x.width, x.height * ratio) : x.width) * devicePixelRatio;
          return [
            i.currentSrc.split("/").pop().slice(0, 26),
            q,
            Math.round(painted),
            (q / painted).toFixed(2),
            i.complete,
          ];
        })
        .filter((r) => r[4]),
    );
    console.log(w, name, r.map((x) => x.slice(0, 4).join(" ")).join("\n   "));
    await p.screenshot({ path: `/tmp/w/i6web/${process.argv[2] ?? "light"}-${w}-${name}.png` });
  };
  await p.goto(url);
  await look("home");
  await p.evaluate(() =>
    document.querySelector("main > section:nth-of-type(2)").scrollIntoView({ behavior: "instant" }),
  );
  await look("strip");
  await p.evaluate(() => document.querySelector("#about").scrollIntoView({ behavior: "instant" }));
  await look("about");
  await p.goto(url + "/gallery/all");
  await look("gallery");
  await p
    .getByRole("button", { name: /^Open / })
    .first()
    .click();
  await p.waitForTimeout(700);
  await look("dialog");
  await p.getByRole("button", { name: /^Look closer/ }).click();
  await p.waitForTimeout(700);
  await look("zoom");
  for (let n = 0; n < 4; n++) await p.keyboard.press("+");
  await look("zoom4");
  await c.close();
}
await b.close();
