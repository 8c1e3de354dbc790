/** Replaces the package url-parse (vite.config.ts): tus-js-client uses only what the browser's URL also offers. */
// oxlint-disable-next-line import/no-default-export -- url-parse has one
export default URL;
