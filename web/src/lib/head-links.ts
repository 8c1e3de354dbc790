// Makes the preload links in the head of a page that the server renders. With these links the browser requests the pictures of high
// priority before it has received the whole page. entry-server.tsx uses this file; the browser's bundle does not contain it.

/** The attributes of a picture's source: the files to choose from, and the widths at which the picture is displayed. */
type SourceAttributes = { srcSet: string; sizes: string };

/** A high-priority picture with two sources: `narrow` is cropped for phones, `wide` is the whole picture. */
export type UrgentPicture = {
  /** The media query of the screens that get `narrow`. All other screens get `wide`. */
  media: string;
  narrow: SourceAttributes;
  wide?: SourceAttributes;
};

/** The high-priority pictures of the page that is being rendered. entry-server.tsx empties the array before each page. */
export const urgentPictures: UrgentPicture[] = [];

const escapeAttribute = (text = "") => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

/** The preload links of a picture with two sources (a picture element). For an img element React makes the link itself. */
export function pictureLinks({ media, narrow, wide }: UrgentPicture): string {
  return [
    { query: media, ...narrow },
    { query: `not all and ${media}`, ...wide },
  ]
    .map(
      ({ query, srcSet, sizes }) =>
        `<link rel="preload" as="image" media="${escapeAttribute(query)}" imagesrcset="${escapeAttribute(srcSet)}" imagesizes="${escapeAttribute(sizes)}" fetchpriority="high">`,
    )
    .join("");
}

/**
 * Splits the HTML that React has rendered into links for the head and the body. React puts its preload links before the body. Links of
 * high priority are put into the head. Other links are dropped, because the elements of their pictures follow shortly after.
 */
export function splitLinks(html: string): { head: string; body: string } {
  let head = "";
  let body = html;
  while (body.startsWith("<link ")) {
    const end = body.indexOf("/>") + 2; // the first "/>" ends the link, because React escapes > in attributes
    const link = body.slice(0, end);
    if (link.includes('fetchPriority="high"')) head += link;
    body = body.slice(end);
  }
  return { head, body };
}
