/**
 * Replaces the package url-parse in the build (vite.config.ts). tus-js-client uses only those functions of the package that the
 * browser's own URL has too.
 */
// oxlint-disable-next-line import/no-default-export -- url-parse has one
export default URL;
