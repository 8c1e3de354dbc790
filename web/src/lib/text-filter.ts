/** Quotes a value in a PostgREST filter, so that commas and brackets in it have no meaning. */
export const quoted = (text: string) => `"${text.replace(/[\\"]/g, "\\$&")}"`;

/**
 * Conditions for the query builder's `or`, one for each column, that match values containing the text. The wildcards of LIKE
 * are escaped. PostgREST has no escape for a star, so a star matches any one character.
 */
export function containing(columns: readonly string[], text: string): string[] {
  const literal = text.replace(/[\\%_]/g, "\\$&").replaceAll("*", "_");
  return columns.map((column) => `${column}.ilike.${quoted(`%${literal}%`)}`);
}
