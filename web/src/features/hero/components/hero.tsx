import { useEffect } from "react";
import { useCovers } from "@/features/hero/api/get-covers";
import { HeroCarousel } from "@/features/hero/components/hero-carousel";
import { HeroWaiting } from "@/features/hero/components/hero-waiting";

/** The covers; nothing at all when there are none or they cannot be read (specification §8). */
export function Hero() {
  const { data: covers, error, isPending } = useCovers();

  useEffect(() => {
    if (error) console.error("The cover images could not be loaded", error);
  }, [error]);

  if (isPending) return <HeroWaiting />;
  if (!covers || covers.length === 0) return null;
  return <HeroCarousel covers={covers} />;
}
