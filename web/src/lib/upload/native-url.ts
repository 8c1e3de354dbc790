/**
 * Replaces the package url-parse in the build (vite.config.ts). Of that package tus-js-client uses only functions that the
 * browser's URL has too.
 */
// oxlint-disable-next-line import/no-default-export -- url-parse has one
export default URL;
