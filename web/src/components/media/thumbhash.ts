import { thumbHashToDataURL } from "thumbhash";

/** Sets the blurred preview that a base64 thumbhash encodes as the background of a loading picture. */
export function paintThumbhash(element: HTMLElement, base64: string): void {
  const hash = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  element.style.backgroundImage = `url(${thumbHashToDataURL(hash)})`;
}
