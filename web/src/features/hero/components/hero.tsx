import { useEffect } from "react";
import { useCovers } from "@/features/hero/api/get-covers";
import { HeroCarousel } from "@/features/hero/components/hero-carousel";
import { HeroSkeleton } from "@/features/hero/components/hero-skeleton";

/**
 * The top of the home page: the carousel of covers. Renders nothing if there are no covers or if the covers cannot be loaded
 * (docs/product.md, Hero).
 */
export function Hero() {
  const { data: covers, error, isPending } = useCovers();

  useEffect(() => {
    if (error) console.error("The covers could not be loaded", error);
  }, [error]);

  if (isPending) return <HeroSkeleton />;
  if (!covers || covers.length === 0) return null;
  return <HeroCarousel covers={covers} />;
}
