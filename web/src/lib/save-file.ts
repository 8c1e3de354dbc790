/** Makes the browser save data as a file (a download). */
export function saveFile(data: Blob, name: string): void {
  const objectUrl = URL.createObjectURL(data);
  const link = document.createElement("a");
  link.href = objectUrl;
  link.download = name;
  link.click();
  URL.revokeObjectURL(objectUrl);
}
