/**
 * Returns the body of a request about a conversation: `request`, which is sent as JSON, or a multipart form if there are pictures.
 * The field `request` is the first in the form, because the server stores the pictures while they arrive.
 */
export function bodyWithPictures(request: object, pictures: File[]): object {
  if (pictures.length === 0) return request;
  const form = new FormData();
  form.set("request", JSON.stringify(request));
  for (const picture of pictures) form.append("picture", picture);
  return form;
}
