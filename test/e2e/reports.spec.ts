// The browser reports violations of the content security policy, and the server logs them.
import { expect, test } from "./fixtures.ts";

test.use({ allowedConsole: [/Content Security Policy/] });

test("SENT-policy-1: an injected script is blocked, reported and logged", async ({
  page,
  demo,
}) => {
  const before = demo.log().length; // other tests use this server too
  await page.goto(`${demo.url}/?secret=word`);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "document.title = 'taken over'";
    document.body.append(script);
  });
  const line = () =>
    demo
      .log()
      .slice(before)
      .split("\n")
      .slice(0, -1) // the last line may be incomplete
      .find((found) => found.includes("a browser reported a violation"));
  await expect.poll(line, "the report's line in the log").toBeDefined();
  expect(JSON.parse(line() ?? "{}")).toMatchObject({
    level: "WARN",
    directive: "script-src-elem",
    blocked: "inline",
    page: `${demo.url}/`,
  });
  await expect(page).not.toHaveTitle("taken over");
});
