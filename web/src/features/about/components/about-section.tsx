import { useId, type CSSProperties } from "react";
import { Picture } from "@/components/media/picture";
import { useBoot } from "@/lib/boot";
import { cn } from "@/lib/cn";
import { imageInfo, ratioOf, type ImageInfo, type Sizes } from "@/lib/media";
import type { LocalText } from "@/lib/local-text";
import { useSiteText } from "@/lib/site-text";

/** The about section of the home page: the owner's portrait and texts. A picture or text that the owner has not set is omitted. */
export function AboutSection() {
  const { site, media } = useBoot();
  const title = useSiteText("about.title");
  const description = useSiteText("about.description");
  const description2 = useSiteText("about.description2");
  const portraitAlt = useSiteText("about.portraitAlt");
  const headingId = useId();
  return (
    <section id="about" aria-labelledby={title.text ? headingId : undefined} className="py-section">
      <div
        className={cn(
          "page-container grid gap-y-8",
          site.portrait && "items-center gap-x-[7vw] lg:grid-cols-[5fr_6fr]",
        )}
      >
        {site.portrait && (
          <Portrait
            src={site.portrait}
            alt={portraitAlt}
            info={imageInfo({ media }, site.portrait)}
          />
        )}
        <div className="max-w-[33em]">
          {title.text && (
            <h2 id={headingId} lang={title.lang} className="text-h2 oldstyle">
              {title.text}
            </h2>
          )}
          {description.text && (
            <p lang={description.lang} className="text-lead mt-[33px] whitespace-pre-line">
              {description.text}
            </p>
          )}
          {description2.text && (
            <p lang={description2.lang} className="mt-6 text-xl leading-[1.52] whitespace-pre-line">
              {description2.text}
            </p>
          )}
        </div>
      </div>
    </section>
  );
}

const portraitSizes: Sizes = [
  ["(min-width:64rem)", "min(454px,33vw)"],
  ["", "min(488px,80vw)"],
];

/**
 * Aspect ratios of the portrait's frame, width by height. A portrait without metadata has the ratio `usual`. Any other
 * portrait has its own ratio, limited to the range from `narrowest` to `broadest`.
 */
const RATIOS = { usual: 4 / 5, narrowest: 2 / 3, broadest: 6 / 5 };

/** The portrait in a frame. The sill (the bar at the bottom of the frame) is wider than the frame by --sill on each side. */
function Portrait({ src, alt, info }: { src: string; alt: LocalText; info?: ImageInfo }) {
  const shape = info
    ? Math.min(RATIOS.broadest, Math.max(RATIOS.narrowest, ratioOf(info)))
    : RATIOS.usual;
  return (
    <div
      lang={alt.lang}
      className="mb-[26px] w-full max-w-[532px] px-(--sill) [--sill:clamp(10px,1.1vw,18px)] max-lg:mx-auto lg:-mr-(--sill) lg:justify-self-end"
    >
      <div className="border-band border-[clamp(12px,1.4vw,20px)] border-b-0">
        {/* Reserves the space while the style sheet hides the picture. */}
        <div className="aspect-(--shape)" style={{ "--shape": shape } as CSSProperties}>
          <Picture
            src={src}
            alt={alt.text}
            width={1200}
            height={1500}
            info={info}
            sizes={portraitSizes}
            fit="cover"
            className="bg-neutral size-full"
          />
        </div>
      </div>
      <div className="bg-band -mx-(--sill) h-[34px]" />
    </div>
  );
}
