import { STILL_MAX_PX } from "@/lib/upload/limits";

// Makes stills in the browser. A still is the picture that is shown until a video plays. It is stored beside the video.

/** The quality of the JPEG, from 0 to 1. */
const STILL_QUALITY = 0.88;
/**
 * How long capturing a still may take. Chromium needs 0.3 to 1.7 s, but fires no event for a video that it cannot read, so without
 * a timeout the capture would never end.
 */
const CAPTURE_TIMEOUT_MS = 10_000;
/** The mean brightness, from 0 to 255, up to which a frame is treated as black. */
const DARK_MAX = 20;
/** The frames to try, in this order: their times as shares of the video's duration. */
const MOMENT_SHARES = [0.1, 0.25, 0.5, 0.75, 0.02];

/**
 * Captures a frame of a video as a JPEG with sides of at most STILL_MAX_PX. Of the frames at MOMENT_SHARES it takes the first one
 * that is not black, or the brightest one if all are black. Resolves with null if this browser cannot read the video. Rejects if
 * `signal` is aborted, also before the call.
 */
export async function captureStill(file: Blob, signal?: AbortSignal): Promise<Blob | null> {
  signal?.throwIfAborted(); // an aborted signal fires no event
  const objectUrl = URL.createObjectURL(file);
  const video = document.createElement("video");
  const aborter = new AbortController();
  const stop = () => aborter.abort();
  const timer = setTimeout(stop, CAPTURE_TIMEOUT_MS);
  signal?.addEventListener("abort", stop);
  const captureSignal = aborter.signal; // aborted by `signal` and by the timeout
  try {
    video.muted = true;
    video.playsInline = true;
    video.preload = "auto";
    video.src = objectUrl;
    await nextEvent(video, "loadeddata", captureSignal);
    // Some recorders write no duration into the file. For such a file 4 seconds are assumed.
    const seconds = Number.isFinite(video.duration) ? video.duration : 4;
    let best = { at: 0, light: -1 };
    for (const share of MOMENT_SHARES) {
      await seek(video, seconds * share, captureSignal);
      const light = brightness(video);
      if (light > best.light) best = { at: video.currentTime, light };
      if (light > DARK_MAX) break;
    }
    await seek(video, best.at, captureSignal);
    return await toJpeg(video, video.videoWidth, video.videoHeight);
  } catch (error) {
    if (signal?.aborted) throw error;
    return null; // for example a codec that this browser does not support
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    video.removeAttribute("src");
    video.load();
    URL.revokeObjectURL(objectUrl);
  }
}

/** Converts a chosen picture to a JPEG with sides of at most STILL_MAX_PX. Resolves with null if this browser cannot read the picture. */
export async function stillFromPicture(picture: Blob): Promise<Blob | null> {
  const bitmap = await createImageBitmap(picture).catch(() => null);
  if (!bitmap) return null;
  try {
    return await toJpeg(bitmap, bitmap.width, bitmap.height);
  } finally {
    bitmap.close();
  }
}

/** Resolves at the next event of this type. Rejects if the video fails or the signal is aborted. */
function nextEvent(video: HTMLVideoElement, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = () => reject(new Error(video.error?.message ?? "The video cannot be read"));
    signal.throwIfAborted();
    signal.addEventListener("abort", failed, { once: true });
    video.addEventListener("error", failed, { once: true });
    video.addEventListener(event, () => resolve(), { once: true });
  });
}

async function seek(video: HTMLVideoElement, at: number, signal: AbortSignal): Promise<void> {
  if (Math.abs(video.currentTime - at) < 0.001 && video.readyState >= 2) return;
  const sought = nextEvent(video, "seeked", signal);
  video.currentTime = at;
  await sought;
}

/** The mean brightness of the current frame, from 0 to 255. */
function brightness(video: HTMLVideoElement): number {
  const canvas = document.createElement("canvas");
  canvas.width = 32;
  canvas.height = 18;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context || video.videoWidth === 0) throw new Error("The video has no picture");
  context.drawImage(video, 0, 0, 32, 18);
  const { data } = context.getImageData(0, 0, 32, 18);
  let sum = 0;
  for (let i = 0; i < data.length; i += 4) {
    sum += 0.2126 * data[i]! + 0.7152 * data[i + 1]! + 0.0722 * data[i + 2]!;
  }
  return sum / (data.length / 4);
}

/** Encodes a picture as JPEG. The name of a still ends in .jpg, so all stills have this format. Every browser can encode it. */
function toJpeg(source: CanvasImageSource, width: number, height: number): Promise<Blob | null> {
  const scale = Math.min(1, STILL_MAX_PX / Math.max(width, height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext("2d");
  if (!context) return Promise.resolve(null);
  // Without a background, transparent pixels would become black.
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = "high";
  context.drawImage(source, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/jpeg", STILL_QUALITY));
}
