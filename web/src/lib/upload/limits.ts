// Limits of uploads. They are not in lib/constants.ts, because visitors download that file.

/** Larger files are uploaded in chunks, so that a lost connection does not lose everything (upload-resumable.ts). So are all videos. */
export const RESUMABLE_FROM_BYTES = 6 * 1024 * 1024;
/** The size of a chunk. Hosted Supabase requires exactly this size. */
export const RESUMABLE_CHUNK_BYTES = 6 * 1024 * 1024;
/** The waits in milliseconds before the retries of an upload. */
export const UPLOAD_RETRY_DELAYS_MS: readonly number[] = [500, 1500, 4000];
/** The maximum length of a side of a still (the picture that is shown until a video plays), in pixels. */
export const STILL_MAX_PX = 2560;
