/**
 * The placeholder of about 21 bytes as a tiny picture, after Evan Wallace's ThumbHash: colour as cosines of
 * low frequency (github.com/evanw/thumbhash). `side` is the longer side in pixels.
 */
export function decodeThumbhash(
  hash: Uint8Array,
  side = 32,
): { width: number; height: number; rgba: Uint8ClampedArray<ArrayBuffer> } {
  const byte = (n: number) => hash[n] ?? 0;
  const head = byte(0) | (byte(1) << 8) | (byte(2) << 16);
  const tail = byte(3) | (byte(4) << 8);
  const hasAlpha = head >> 23 !== 0;
  const landscape = tail >> 15 !== 0;
  const columns = Math.max(3, landscape ? (hasAlpha ? 5 : 7) : tail & 7);
  const rows = Math.max(3, landscape ? tail & 7 : hasAlpha ? 5 : 7);
  const alphaBase = hasAlpha ? (byte(5) & 15) / 15 : 1;

  const start = hasAlpha ? 6 : 5;
  let index = 0;
  function channel(nx: number, ny: number, scale: number): number[] {
    const factors: number[] = [];
    for (let y = 0; y < ny; y++) {
      for (let x = y ? 0 : 1; x * ny < nx * (ny - y); x++) {
        const nibble = (byte(start + (index >> 1)) >> ((index & 1) << 2)) & 15;
        index++;
        factors.push((nibble / 7.5 - 1) * scale);
      }
    }
    return factors;
  }
  const lFactors = channel(columns, rows, ((head >> 18) & 31) / 31);
  const pFactors = channel(3, 3, (((tail >> 3) & 63) / 63) * 1.25);
  const qFactors = channel(3, 3, (((tail >> 9) & 63) / 63) * 1.25);
  const aFactors = hasAlpha ? channel(5, 5, (byte(5) >> 4) / 15) : [];

  const ratio = columns / rows;
  const width = Math.round(ratio > 1 ? side : side * ratio);
  const height = Math.round(ratio > 1 ? side / ratio : side);
  const rgba = new Uint8ClampedArray(width * height * 4);
  const sum = (base: number, factors: number[], nx: number, ny: number, x: number, y: number) => {
    let value = base;
    for (let cy = 0, n = 0; cy < ny; cy++) {
      const fy = Math.cos((Math.PI / height) * (y + 0.5) * cy) * 2;
      for (let cx = cy ? 0 : 1; cx * ny < nx * (ny - cy); cx++, n++)
        value += factors[n]! * Math.cos((Math.PI / width) * (x + 0.5) * cx) * fy;
    }
    return value;
  };
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) {
      const l = sum((head & 63) / 63, lFactors, columns, rows, x, y);
      const p = sum(((head >> 6) & 63) / 31.5 - 1, pFactors, 3, 3, x, y);
      const q = sum(((head >> 12) & 63) / 31.5 - 1, qFactors, 3, 3, x, y);
      const b = l - (2 / 3) * p;
      const r = (3 * l - b + q) / 2;
      rgba[at] = r * 255;
      rgba[at + 1] = (r - q) * 255;
      rgba[at + 2] = b * 255;
      rgba[at + 3] = (hasAlpha ? sum(alphaBase, aFactors, 5, 5, x, y) : 1) * 255;
    }
  }
  return { width, height, rgba };
}

/** Lays the placeholder behind a picture that is on its way. */
export function paintThumbhash(element: HTMLElement, base64: string): void {
  const { width, height, rgba } = decodeThumbhash(
    Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)),
  );
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d")?.putImageData(new ImageData(rgba, width, height), 0, 0);
  element.style.backgroundImage = `url(${canvas.toDataURL()})`;
}
