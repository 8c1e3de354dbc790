// Beside the other constants these would be in the first download.

// Larger files, and every film, travel in pieces, as the hosted backend asks for.
export const RESUMABLE_FROM_BYTES = 6 * 1024 * 1024;
export const RESUMABLE_CHUNK_BYTES = 6 * 1024 * 1024;
export const UPLOAD_RETRY_DELAYS_MS: readonly number[] = [500, 1500, 4000];
export const STILL_MAX_PX = 2560;
