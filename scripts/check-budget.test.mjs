// @vitest-environment node
import { describe, expect, it } from "vitest";
import {
  breaches,
  filesOf,
  isSourceOf,
  ownerOf,
  splitByOwner,
  visitorFiles,
} from "./check-budget.mjs";

describe("check-budget", () => {
  const manifest = {
    "index.html": { file: "a.js", imports: ["_b.js"], dynamicImports: ["form.tsx"] },
    "_b.js": { file: "b.js", imports: ["index.html"] },
    "form.tsx": { file: "form.js", imports: ["_c.js", "_b.js"] },
    "_c.js": { file: "c.js" },
  };

  it("follows static imports, lists each file once, and omits files that load later", () => {
    expect([...filesOf(manifest, ["index.html"])]).toEqual(["a.js", "b.js"]);
    expect([...filesOf(manifest, ["index.html", "form.tsx"])]).toEqual([
      "a.js",
      "form.js",
      "b.js",
      "c.js",
    ]);
    expect(() => filesOf(manifest, ["gone.tsx"])).toThrow("does not know gone.tsx");
  });

  it("names the owner of a source", () => {
    expect(ownerOf("../node_modules/@a/b/node_modules/@c/d/index.js")).toBe("@c/d");
    expect(ownerOf("../../node_modules/react-dom/cjs/x.js")).toBe("react-dom");
    expect(ownerOf("../src/app/app.tsx")).toBe("own code");
    expect(ownerOf(undefined)).toBe("glue");
  });

  it("assigns each character of a chunk to one owner", () => {
    // "AAAA" begins the first source at column 0, "ICAA" the second at column 4.
    const map = {
      version: 3,
      names: [],
      mappings: "AAAA,ICAA",
      sources: ["x/src/a.ts", "node_modules/l/b.js"],
    };
    const owners = splitByOwner("own;lib;", map);
    expect(Object.fromEntries(owners)).toEqual({ "own code": "own;", l: "lib;" });
  });

  it("P-weight-budget: reports sizes above the budget, and entries of the budget that match nothing", () => {
    const sizes = { home: { min: 300, gzip: 100, brotli: 90 } };
    expect(breaches(sizes, { home: { gzip: 100, brotli: 90 } })).toEqual([]);
    expect(breaches(sizes, { home: { gzip: 99, brotli: 90 } })).toEqual([
      "home: 100 bytes gzip, budget 99",
    ]);
    expect(breaches(sizes, { home: { zstd: 50 } })).toHaveLength(1);
    expect(breaches(sizes, { gone: { gzip: 1 } })).toHaveLength(1);
  });

  it("follows dynamic imports of public pages, and omits modules with their own style sheet", () => {
    const pages = {
      "index.html": { file: "a.js", dynamicImports: ["src/app/admin-routes.tsx", "grid.tsx"] },
      "grid.tsx": { file: "grid.js", imports: ["_c.js"], dynamicImports: ["zoom.tsx"] },
      "zoom.tsx": { file: "zoom.js", imports: ["index.html"] },
      "_c.js": { file: "c.js" },
      "src/app/admin-routes.tsx": { file: "admin.js", css: ["full.css"] },
    };
    expect([...visitorFiles(pages)].sort()).toEqual(["a.js", "c.js", "grid.js", "zoom.js"]);
  });

  it("P-weight-sheet: finds the sources that a style sheet scans; later @source lines override earlier ones", () => {
    const sheet = `@source "../app/*.tsx";
@source "../features/{hero,grid}/**/*.{ts,tsx}";
@source not "../app/admin-*.tsx";
`;
    const read = (source) => isSourceOf(sheet, "/web/src/styles", `/web/src/${source}`);
    expect(
      ["app/app.tsx", "features/hero/x.ts", "features/grid/a/b.tsx"].filter(read),
    ).toHaveLength(3);
    expect(["app/admin-routes.tsx", "app/a/b.tsx", "features/admin/x.tsx"].filter(read)).toEqual(
      [],
    );
  });
});
