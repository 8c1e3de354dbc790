/**
 * Replaces the package url-parse in the build (vite.config.ts), because the browser's own URL needs no download. tus-js-client (the
 * library for resumable uploads) uses only functions of url-parse that URL has too.
 */
// oxlint-disable-next-line import/no-default-export -- url-parse has one
export default URL;
