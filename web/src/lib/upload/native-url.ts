/** Stands in for the package url-parse, of which tus-js-client needs only what every browser has. */
// oxlint-disable-next-line import/no-default-export -- the package has one
export default URL;
