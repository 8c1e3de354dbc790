import { expect, test, vi } from "vitest";
import { BUCKETS } from "@/lib/constants";
import { UploadError } from "@/lib/upload/upload-error";
import { uploadResumable } from "@/lib/upload/upload-resumable";

test("an upload whose session has ended fails at once with the status 401", async () => {
  const token = vi.fn().mockRejectedValue(new UploadError("Not signed in", 401));
  const upload = uploadResumable({
    apiUrl: "http://127.0.0.1:9", // the discard port: no request may reach a server
    anonKey: "anon",
    bucket: BUCKETS.products,
    name: "film.mp4",
    file: new Blob(["film"]),
    mime: "video/mp4",
    token,
  });
  await expect(upload).rejects.toMatchObject({ name: "UploadError", status: 401 });
  expect(token).toHaveBeenCalledOnce();
});
