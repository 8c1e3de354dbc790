// Limits of uploads. Not in lib/constants, because visitors download that file.

// Files above RESUMABLE_FROM_BYTES and all videos use resumable uploads. Hosted Supabase requires chunks of exactly
// RESUMABLE_CHUNK_BYTES.
export const RESUMABLE_FROM_BYTES = 6 * 1024 * 1024;
export const RESUMABLE_CHUNK_BYTES = 6 * 1024 * 1024;
/** The waits before the retries of an upload. */
export const UPLOAD_RETRY_DELAYS_MS: readonly number[] = [500, 1500, 4000];
/** The longest side of a still, the picture shown in place of a video until it plays. */
export const STILL_MAX_PX = 2560;
