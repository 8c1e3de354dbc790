import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { UploadError } from "@/lib/upload/upload-error";
import { uploadObject, type UploadRequest } from "@/lib/upload/upload-object";

const server = setupServer();
beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

const url = "http://localhost:3000/storage/v1/object/product-images/abc.mov";
const request = (more: Partial<UploadRequest> = {}): UploadRequest => ({
  apiUrl: "http://localhost:3000",
  anonKey: "public-key",
  token: "owner-token",
  bucket: "product-images",
  name: "abc.mov",
  file: new File(["film"], "Clip.MOV"),
  mime: "video/quicktime",
  ...more,
});

describe("uploadObject", () => {
  it("sends the headers and the multipart body that storage-js sends", async () => {
    let seen: Request | undefined;
    let body = "";
    server.use(
      http.post(url, async ({ request: sent }) => {
        seen = sent;
        body = await sent.text();
        return HttpResponse.json({ Id: "1", Key: "product-images/abc.mov" });
      }),
    );
    await uploadObject(request());
    expect(seen?.headers.get("authorization")).toBe("Bearer owner-token");
    expect(seen?.headers.get("apikey")).toBe("public-key");
    expect(seen?.headers.get("x-upsert")).toBe("false");
    expect(seen?.headers.get("content-type")).toMatch(/^multipart\/form-data; boundary=/);
    expect(body).toMatch(/name="cacheControl"\r\n\r\n31536000/);
    // storage-js names the file field with the empty string.
    expect(body).toMatch(
      /name=""; filename="abc.mov"\r\nContent-Type: video\/quicktime\r\n\r\nfilm/i,
    );
  });

  it("throws UploadError with the status and message of the response body", async () => {
    server.use(
      http.post(url, () =>
        HttpResponse.json(
          { statusCode: "403", error: "Unauthorized", message: "not allowed" },
          { status: 400 },
        ),
      ),
    );
    const error = await uploadObject(request()).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UploadError);
    expect(error).toMatchObject({ status: 403, message: "not allowed" });
  });

  it("accepts an error body that is not JSON", async () => {
    server.use(http.post(url, () => new HttpResponse("<html>", { status: 502 })));
    await expect(uploadObject(request())).rejects.toMatchObject({ status: 502 });
  });

  it("fails when the connection is lost", async () => {
    server.use(http.post(url, () => HttpResponse.error()));
    await expect(uploadObject(request())).rejects.toMatchObject({ status: 0 });
  });

  it("can be cancelled before and while it runs", async () => {
    const early = new AbortController();
    early.abort();
    await expect(uploadObject(request({ signal: early.signal }))).rejects.toMatchObject({
      name: "AbortError",
    });

    const late = new AbortController();
    server.use(
      http.post(url, async () => {
        late.abort();
        await new Promise(() => undefined); // no response: only the signal ends the upload
        return HttpResponse.json({});
      }),
    );
    await expect(uploadObject(request({ signal: late.signal }))).rejects.toMatchObject({
      name: "AbortError",
    });
  });
});
