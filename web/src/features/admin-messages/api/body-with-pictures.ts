/**
 * Returns the body of a request that may have pictures, such as a reply. Without pictures it is `request`, which is sent as JSON.
 * With pictures it is a multipart form. Its first field is `request`, because the server needs it when the pictures arrive: it
 * stores each picture while receiving it.
 */
export function bodyWithPictures(request: object, pictures: File[]): object {
  if (pictures.length === 0) return request;
  const form = new FormData();
  form.set("request", JSON.stringify(request));
  for (const picture of pictures) form.append("picture", picture);
  return form;
}
