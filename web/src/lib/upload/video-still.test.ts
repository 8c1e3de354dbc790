import { expect, it } from "vitest";
import { captureStill } from "@/lib/upload/video-still";

it("captures no still for an upload that was cancelled before", async () => {
  const cancelled = AbortSignal.abort(new Error("cancelled"));
  await expect(captureStill(new Blob(["a film"]), cancelled)).rejects.toThrow("cancelled");
});
