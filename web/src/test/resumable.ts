import { http, HttpResponse } from "msw";

/**
 * Request handlers for the part of resumable uploads (tus) that the page uses. `onStored` is called for each finished upload.
 */
export function resumableUploads(apiUrl: string, onStored: (name: string, length: number) => void) {
  const endpoint = `${apiUrl}/storage/v1/upload/resumable`;
  const uploads = new Map<string, { name: string; length: number; offset: number }>();

  /** Adds the bytes of a request to an upload, and returns the upload's new offset. */
  async function appendBytes(id: string, request: Request): Promise<string> {
    const upload = uploads.get(id)!;
    upload.offset += (await request.arrayBuffer()).byteLength;
    if (upload.offset === upload.length) onStored(upload.name, upload.length);
    return String(upload.offset);
  }

  const headers = { "Tus-Resumable": "1.0.0" };
  return [
    http.post(endpoint, async ({ request }) => {
      const metadata = request.headers.get("upload-metadata") ?? "";
      const id = String(uploads.size);
      uploads.set(id, {
        name: atob(/objectName ([^,]+)/.exec(metadata)?.[1] ?? ""),
        length: Number(request.headers.get("upload-length")),
        offset: 0,
      });
      return new HttpResponse(null, {
        status: 201,
        headers: {
          ...headers,
          Location: `${endpoint}/${id}`,
          "Upload-Offset": await appendBytes(id, request),
        },
      });
    }),
    http.head(`${endpoint}/:id`, ({ params }) => {
      const upload = uploads.get(params.id as string);
      if (!upload) return new HttpResponse(null, { status: 404, headers });
      return new HttpResponse(null, {
        headers: {
          ...headers,
          "Upload-Offset": String(upload.offset),
          "Upload-Length": String(upload.length),
        },
      });
    }),
    http.patch(`${endpoint}/:id`, async ({ params, request }) => {
      const offset = await appendBytes(params.id as string, request);
      return new HttpResponse(null, {
        status: 204,
        headers: { ...headers, "Upload-Offset": offset },
      });
    }),
    http.delete(`${endpoint}/:id`, ({ params }) => {
      uploads.delete(params.id as string);
      return new HttpResponse(null, { status: 204, headers });
    }),
  ];
}
