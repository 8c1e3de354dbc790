// Records what Chromium requests at the first visit of a page: node bench/record-visit.mjs URL. Prints a JSON array with a
// recording for each device: the requests in their order, with their headers and the number of their connection. The visitor
// presses and scrolls nothing. bench/replay.go runs this script.
import { chromium, devices } from "@playwright/test";

const visitors = {
  phone: devices["Pixel 7"],
  desktop: { viewport: { width: 1440, height: 900 } },
};
/** Headers that the replay writes itself, and the pseudo-headers of HTTP/2. */
const omitted = /^(:|host$|connection$)/i;

/** Returns the recording of a visit. */
async function record(browser, url, device) {
  const { defaultBrowserType: _, ...options } = device;
  const context = await browser.newContext(options); // with an empty cache
  try {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    await cdp.send("Network.enable");
    const requests = new Map(); // by the id of the request, in the order of their beginning
    const entry = (id) => {
      if (!requests.has(id)) requests.set(id, {});
      return requests.get(id);
    };
    cdp.on("Network.requestWillBeSent", ({ requestId, request, redirectResponse }) => {
      if (redirectResponse) throw new Error(`${request.url}: a redirect cannot be replayed`);
      Object.assign(entry(requestId), { url: request.url, method: request.method });
    });
    cdp.on("Network.requestWillBeSentExtraInfo", ({ requestId, headers }) => {
      entry(requestId).headers = headers;
    });
    cdp.on("Network.responseReceived", ({ requestId, response }) => {
      Object.assign(entry(requestId), {
        status: response.status,
        connection: response.connectionId,
        cached: response.fromDiskCache || response.fromPrefetchCache,
      });
    });
    cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      entry(requestId).bytes = encodedDataLength;
    });
    await page.goto(url, { waitUntil: "networkidle" });
    return [...requests.values()].filter(
      ({ url: requested, cached }) => requested?.startsWith(new URL("/", url).href) && !cached,
    );
  } finally {
    await context.close();
  }
}

const url = process.argv[2];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  const recordings = [];
  for (const [device, options] of Object.entries(visitors)) {
    const requests = (await record(browser, url, options)).map(
      ({ url: requested, method, headers = {}, status, connection, bytes = 0 }) => {
        if (method !== "GET" || status !== 200)
          throw new Error(`${device}: ${method} ${requested} was answered with ${status}`);
        return {
          path: requested.slice(new URL(url).origin.length),
          headers: Object.entries(headers).filter(([name]) => !omitted.test(name)),
          connection,
          bytes,
        };
      },
    );
    recordings.push({ device, requests });
  }
  console.log(JSON.stringify(recordings));
} finally {
  await browser.close();
}
