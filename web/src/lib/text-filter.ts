/** Quotes a value in a PostgREST filter, so that commas and brackets in the value have no meaning. */
export const quoted = (text: string) => `"${text.replace(/[\\"]/g, "\\$&")}"`;

/**
 * Returns conditions for `or` of supabase-js, one for each column. They match values that contain the text, in upper or lower case. The
 * wildcards of LIKE (% and _) are escaped. A star cannot be escaped in PostgREST, so it is replaced by _, which matches any character.
 */
export function containing(columns: readonly string[], text: string): string[] {
  const literal = text.replace(/[\\%_]/g, "\\$&").replaceAll("*", "_");
  return columns.map((column) => `${column}.ilike.${quoted(`%${literal}%`)}`);
}
