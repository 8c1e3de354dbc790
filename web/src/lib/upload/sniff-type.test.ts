import { describe, expect, it } from "vitest";
import { extensionFor, sniffBytes, sniffFile } from "@/lib/upload/sniff-type";

const bytes = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const box = (...brands: string[]) => {
  const [major, ...others] = brands;
  const size = String.fromCharCode(16 + others.length * 4);
  return `\0\0\0${size}ftyp${major}\0\0\0\0${others.join("")}`;
};
const ebml = (type: string) =>
  `\x1a\x45\xdf\xa3${String.fromCharCode(0x80 + 7 + type.length)}\x42\x86\x81\x01\x42\x82${String.fromCharCode(0x80 + type.length)}${type}`;
const long = "x".repeat(60);

// The same cases as internal/files/type_test.go.
describe("typeOfBytes", () => {
  it.each([
    ["JPEG", "\xff\xd8\xff\xe0", "image/jpeg"],
    ["PNG", "\x89PNG\r\n\x1a\n", "image/png"],
    ["GIF", "GIF89a", "image/gif"],
    ["WebP", "RIFF\0\0\0\0WEBPVP8 ", "image/webp"],
    ["HEIC", box("heic", "mif1", "heic"), "image/heic"],
    ["HEIC of a general kind", box("mif1", "mif1", "heic"), "image/heic"],
    ["MP4", box("isom", "iso2", "avc1"), "video/mp4"],
    ["MP4 from a phone", box("3gp4", "isom", "3gp4"), "video/mp4"],
    ["MOV", box("qt  ", "qt  "), "video/quicktime"],
    ["WebM", ebml("webm"), "video/webm"],
    ["Matroska", ebml("matroska"), "video/x-matroska"],
    [
      "WebM of unknown size",
      "\x1a\x45\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xff\x42\x82\x84webm" + long,
      "video/webm",
    ],
  ])("detects %s, and no other type in a part of its bytes", (_, text, type) => {
    expect(sniffBytes(bytes(text))).toBe(type);
    for (let end = 0; end < text.length; end++) {
      expect([null, type]).toContain(sniffBytes(bytes(text.slice(0, end))));
    }
  });

  it.each([
    ["nothing", ""],
    ["HTML", "<!doctype html><script>alert(1)</script>" + long],
    ["SVG", `<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>${long}`],
    ["PDF", "%PDF-1.7\n" + long],
    ["a sound", "RIFF\0\0\0\0WAVE" + long],
    ["a picture of no known kind", box("mif1", "mif1", "miaf")],
    ["AVIF that claims to be a film too", box("avif", "mif1", "isom")],
    ["a sound in the box of a film", box("M4A ", "M4A ", "isom")],
    ["3GP alone", box("3gp4", "3gp4")],
    ["a brand behind the box", "\0\0\0\x14ftypxxxx\0\0\0\0yyyyisom" + long],
    ["a box without room for a brand", "\0\0\0\x08ftypisom" + long],
    ["EBML of another kind", ebml("secret")],
    ["EBML with a size past its end", "\x1a\x45\xdf\xa3\x85\x42\x82\x88webm"],
    ["EBML with an endless number", "\x1a\x45\xdf\xa3" + "\0".repeat(20)],
  ])("detects no type in %s", (_, text) => expect(sniffBytes(bytes(text))).toBeNull());
});

it("reads the first bytes of a file and ignores its name", async () => {
  const file = new File([bytes("GIF89a"), "more"], "picture.jpg", { type: "image/jpeg" });
  expect(await sniffFile(file)).toBe("image/gif");
});

it("keeps an extension that fits the type, and replaces any other", () => {
  expect(extensionFor("image/jpeg", "jpeg")).toBe("jpeg");
  expect(extensionFor("video/mp4", "mov")).toBe("mov");
  expect(extensionFor("image/png", "jpg")).toBe("png");
  expect(extensionFor("image/webp", "")).toBe("webp");
});
