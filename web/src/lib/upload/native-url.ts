/** Stands in for the package url-parse, of which tus-js-client needs only what every browser has. */
export default URL;
