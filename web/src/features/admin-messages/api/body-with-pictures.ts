/**
 * The body of a call about a conversation: a form if there are pictures. Its field `request` comes first, because the server
 * stores pictures while they arrive.
 */
export function bodyWithPictures(request: object, pictures: File[]): object {
  if (pictures.length === 0) return request;
  const form = new FormData();
  form.set("request", JSON.stringify(request));
  for (const picture of pictures) form.append("picture", picture);
  return form;
}
