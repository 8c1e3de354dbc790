import { thumbHashToDataURL } from "thumbhash";

/**
 * Sets a blurred preview as the background of an element whose picture is loading. `base64` is a thumbhash (a preview in about 20
 * bytes) in base64.
 */
export function paintThumbhash(element: HTMLElement, base64: string): void {
  const hash = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  element.style.backgroundImage = `url(${thumbHashToDataURL(hash)})`;
}
