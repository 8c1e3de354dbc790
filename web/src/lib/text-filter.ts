/** A value in the wire form's lists: quoted, so that commas and brackets in it are only letters. */
export const quoted = (text: string) => `"${text.replace(/[\\"]/g, "\\$&")}"`;

/**
 * The conditions that find a text in each column, for the query builder's `or`. The marks of LIKE are taken literally;
 * the wire form knows no way to write a star, so that it stands for any one character.
 */
export function containing(columns: readonly string[], text: string): string[] {
  const literal = text.replace(/[\\%_]/g, "\\$&").replaceAll("*", "_");
  return columns.map((column) => `${column}.ilike.${quoted(`%${literal}%`)}`);
}
