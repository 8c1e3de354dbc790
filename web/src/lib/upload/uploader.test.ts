import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import type * as limits from "@/lib/upload/limits";
import { createUploader } from "@/lib/upload/uploader";
import { mp4File, pngFile } from "@/test/files";
import { testOwner } from "@/test/owner";
import { testBoot } from "@/test/render";

// jsdom cannot play videos.
vi.mock("@/lib/upload/video-still", () => ({ captureStill: async () => new Blob(["a frame"]) }));
// Without retries, an upload fails at the first lost response.
vi.mock("@/lib/upload/limits", async (original) => ({
  ...(await original<typeof limits>()),
  UPLOAD_RETRY_DELAYS_MS: [],
}));

const apiUrl = window.location.origin;
const storage = `${apiUrl}/storage/v1`;
/** The names of the uploads, without stills. */
const names: string[] = [];

/** The first request stores the file, but its response is lost. Further ones are refused, because the name exists. */
function answer(name: string): Response {
  if (name.endsWith(".still.jpg")) return HttpResponse.json({ Id: "1" });
  names.push(name);
  if (names.length === 1) return HttpResponse.error();
  return HttpResponse.json({ statusCode: "409", message: "exists" }, { status: 400 });
}

const server = setupServer(
  http.post(`${storage}/object/product-images/:name`, ({ params }) =>
    answer(params.name as string),
  ),
  http.post(`${storage}/upload/resumable`, ({ request }) =>
    answer(atob(/objectName ([^,]+)/.exec(request.headers.get("upload-metadata")!)![1]!)),
  ),
);
beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  names.length = 0;
});
afterAll(() => server.close());

it.each([
  ["a picture", pngFile("a.png")],
  ["a video", mp4File("a.mp4")],
])(
  "A-up-offline: a retry of %s succeeds if the server had stored it and the response was lost",
  async (_, file) => {
    const { upload } = createUploader(testOwner(apiUrl), { ...testBoot, apiUrl }, "product-images");
    await expect(upload(file, {})).rejects.toMatchObject({ status: 0 });
    const url = await upload(file, {});
    expect(names).toHaveLength(2);
    expect(names[1]).toBe(names[0]);
    expect(url).toBe(`${storage}/object/public/product-images/${names[0]}`);
  },
);
