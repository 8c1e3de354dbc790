package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"atelie/internal/storage/rendition"
)

// A process tells its peak of memory only itself, and a large parent's would be taken for its own: whatever is heavy
// here runs in a process of its own, "picture-paint" and "picture-make".

// pictureTable sets the whole ladder in WebP and JPEG with its placeholder, made by us in one process, against the vips
// command doing the same without the placeholder: one decode and a base of 2560 pixels, everything else from it.
func pictureTable(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "atelie-pictures")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	_, noVips := exec.LookPath("vips")
	if _, err := fmt.Fprint(out, "\n## Pictures: ladder of five widths in WebP and JPEG, placeholder\n\nMedian of three. \"vips\" is the vips command: the CPU of all its processes, and in brackets less the cost of\nstarting them, which is about what a program with libvips inside would need. SSIM is to an exact Lanczos, in luma, from\nthe smallest rung to the largest.\n\n",
		"| source | our CPU | vips' CPU | ratio | our peak | vips' peak | our WebP | vips' WebP | SSIM, ours | SSIM, vips' |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"); err != nil {
		return err
	}
	for _, c := range []struct {
		name   string
		w, h   int
		full   bool // colour in every pixel, which only vips can write
		limit  string
		rounds int
	}{
		{"24 MP, 4:2:0", 6000, 4000, false, "200MiB", 3},
		{"24 MP, 4:4:4", 6000, 4000, true, "200MiB", 3},
		{"100 MP, 4:2:0", 11648, 8736, false, "500MiB", 1},
		{"100 MP, 4:4:4", 11648, 8736, true, "500MiB", 1},
	} {
		if c.full && noVips != nil {
			continue
		}
		source := filepath.Join(dir, "source.jpg")
		if _, err := child(ctx, "", self(), "picture-paint", source, strconv.Itoa(c.w), strconv.Itoa(c.h)); err != nil {
			return err
		}
		if c.full {
			full := filepath.Join(dir, "full.jpg")
			if _, err := child(ctx, "", "vips", "jpegsave", source, full, "--Q", "92", "--subsample-mode", "off"); err != nil {
				return err
			}
			source = full
		}
		var ours, theirs, withVips []cost
		for range c.rounds {
			cost, err := ourPictures(ctx, dir, source, c.limit)
			if err != nil {
				return err
			}
			ours = append(ours, cost)
			if noVips != nil {
				continue
			}
			if cost, err = vipsPictures(ctx, dir, source); err != nil {
				return err
			}
			theirs = append(theirs, cost)
			if cost, err = ourPictures(ctx, dir, source, "", "vips"); err != nil {
				return err
			}
			withVips = append(withVips, cost)
		}
		var row, like, theirLike string
		a := middleCost(ours)
		if c.rounds > 1 { // of 100 megapixels the exact filter takes minutes
			if like, err = judge(ctx, source, func(i int) string { return ourFile(dir, i) }); err != nil {
				return err
			}
			if noVips == nil {
				if theirLike, err = judge(ctx, source, func(i int) string { return vipsFile(dir, rendition.Ladder[i], "webp") }); err != nil {
					return err
				}
			}
		}
		if noVips != nil {
			row = fmt.Sprintf("| %s | %.2f s | not installed | | %.0f MB | | %.0f kB | | %s | |\n", c.name, a.cpu.Seconds(), a.peak, a.webp, like)
		} else {
			b := middleCost(theirs)
			row = fmt.Sprintf("| %s | %.2f s | %.2f s (%.2f) | **%.2f** (%.2f) | **%.0f MB** | %.0f MB | %.0f kB | %.0f kB | %s | %s |\n", c.name,
				a.cpu.Seconds(), b.cpu.Seconds(), (b.cpu - b.starts).Seconds(), a.cpu.Seconds()/b.cpu.Seconds(),
				a.cpu.Seconds()/(b.cpu-b.starts).Seconds(), a.peak, b.peak, a.webp, b.webp, like, theirLike)
		}
		if noVips == nil {
			b, v := middleCost(theirs), middleCost(withVips)
			row += fmt.Sprintf("| %s, by our worker with vips | %.2f s | | **%.2f** (%.2f) | **%.0f MB** | | | | | |\n", c.name,
				v.cpu.Seconds(), v.cpu.Seconds()/b.cpu.Seconds(), v.cpu.Seconds()/(b.cpu-b.starts).Seconds(), v.peak)
		}
		if _, err := io.WriteString(out, row); err != nil {
			return err
		}
	}
	return nil
}

// cost is what some processes took: CPU time of all, peak memory of the largest in MB, what of the CPU went into
// starting; and the kB of WebP they made.
type cost struct {
	cpu, starts time.Duration
	peak, webp  float64
}

func (c *cost) add(d cost) { c.cpu, c.peak = c.cpu+d.cpu, max(c.peak, d.peak) }

func middleCost(all []cost) cost {
	var cpu, starts []time.Duration
	var peak []float64
	for _, c := range all {
		cpu, starts, peak = append(cpu, c.cpu), append(starts, c.starts), append(peak, c.peak)
	}
	return cost{median(cpu), median(starts), median(peak), all[0].webp}
}

func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// child runs a program to its end and tells what it cost. limit is its GOMEMLIMIT.
func child(ctx context.Context, limit, name string, args ...string) (cost, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "GOMEMLIMIT="+limit)
	if limit == "" {
		cmd.Env = os.Environ()
	}
	if msg, err := cmd.CombinedOutput(); err != nil {
		return cost{}, fmt.Errorf("%s %v: %w: %s", filepath.Base(name), args, err, msg)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return cost{}, errors.New("no figures of a process on this system")
	}
	return cost{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak: float64(usage.Maxrss) / 1024 * 1.048576}, nil
}

func ourPictures(ctx context.Context, dir, source, limit string, engine ...string) (cost, error) {
	job := rendition.Job{Source: source, Folder: dir, Facts: true}
	for _, w := range rendition.Ladder {
		job.Orders = append(job.Orders, rendition.Order{Width: w, Format: rendition.WebP}, rendition.Order{Width: w, Format: rendition.JPEG})
	}
	text, err := json.Marshal(job)
	if err != nil {
		return cost{}, err
	}
	c, err := child(ctx, limit, self(), append([]string{"picture-make", string(text)}, engine...)...)
	if err != nil {
		return c, err
	}
	return c, c.weigh(func(i int) string { return ourFile(dir, i) })
}

func vipsPictures(ctx context.Context, dir, source string) (cost, error) {
	var sum cost
	n := 0
	vips := func(args ...string) error {
		c, err := child(ctx, "", "vips", args...)
		sum.add(c)
		n++
		return err
	}
	file := func(w int, ending string) string { return vipsFile(dir, w, ending) }
	base := source
	for i := len(rendition.Ladder) - 1; i >= 0; i-- {
		w := rendition.Ladder[i]
		err := errors.Join(
			vips("thumbnail", base, file(w, "v"), strconv.Itoa(w), "--height", "100000", "--size", "down"),
			vips("webpsave", file(w, "v"), file(w, "webp"), "--Q", "80", "--strip"),
			vips("jpegsave", file(w, "v"), file(w, "jpg"), "--Q", "80", "--strip"))
		if err != nil {
			return sum, err
		}
		if i == len(rendition.Ladder)-1 {
			base = file(w, "v")
		}
	}
	start, err := child(ctx, "", "vips", "black", filepath.Join(dir, "start.v"), "1", "1")
	if err != nil {
		return sum, err
	}
	sum.starts = start.cpu * time.Duration(n)
	return sum, sum.weigh(func(i int) string { return vipsFile(dir, rendition.Ladder[i], "webp") })
}

func ourFile(dir string, rung int) string { return filepath.Join(dir, fmt.Sprintf("%d.webp", 2*rung)) }

func vipsFile(dir string, width int, ending string) string {
	return filepath.Join(dir, fmt.Sprintf("vips-%d.%s", width, ending))
}

// weigh adds the WebP files of the ladder.
func (c *cost) weigh(name func(rung int) string) error {
	for i := range rendition.Ladder {
		info, err := os.Stat(name(i))
		if err != nil {
			return err
		}
		c.webp += float64(info.Size()) / 1000
	}
	return nil
}

// judge compares the WebP files of the ladder with the source.
func judge(ctx context.Context, source string, name func(rung int) string) (string, error) {
	args := []string{"picture-likeness", source}
	for i := range rendition.Ladder {
		args = append(args, name(i))
	}
	out, err := exec.CommandContext(ctx, self(), args...).Output()
	return strings.Join(strings.Fields(string(out)), " "), err
}

// makePictures does one job: by our own engine in this process, or, when a second argument says so, by libvips as the
// program does it, in a worker that starts the vips command.
func makePictures(ctx context.Context, args []string) error {
	var job rendition.Job
	if err := json.NewDecoder(strings.NewReader(strings.Join(args[:min(1, len(args))], ""))).Decode(&job); err != nil {
		return err
	}
	if len(args) < 2 {
		_, err := rendition.Make(ctx, job, rendition.Limits{})
		return err
	}
	program, err := filepath.Abs(binary) // a worker starts in a folder of its own
	if err != nil {
		return err
	}
	studio, err := rendition.NewStudio(rendition.Config{Vips: "auto", Program: []string{program, rendition.Command}})
	if err != nil {
		return err
	}
	made, err := studio.Make(ctx, job)
	if err == nil && made.Engine != "vips" {
		err = fmt.Errorf("made by %s", made.Engine)
	}
	return err
}

func paintPicture(args []string) error {
	if len(args) != 3 {
		return errors.New("path, width, height")
	}
	width, errW := strconv.Atoi(args[1])
	height, errH := strconv.Atoi(args[2])
	if err := errors.Join(errW, errH); err != nil {
		return err
	}
	return paint(args[0], width, height)
}

// paint writes a JPEG that has what paintings have: overlapping shapes of all sizes with soft shading, strokes and grain.
// The same size gives the same picture.
func paint(path string, width, height int) (err error) {
	r := rand.New(rand.NewPCG(uint64(width), uint64(height)))
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = 200
	}
	unit := float64(width) / 6000
	for range 2500 {
		leaf(m, r, unit)
	}
	grain(m)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	return errors.Join(jpeg.Encode(w, m, &jpeg.Options{Quality: 92}), w.Flush())
}

// leaf lays an ellipse of one colour with shading across it and strokes along it; there are many small ones and few
// large ones, as in nature.
func leaf(m *image.RGBA, r *rand.Rand, unit float64) {
	size := unit * 40 / math.Pow(r.Float64()+0.0008, 0.52)
	cx, cy := r.Float64()*float64(m.Rect.Dx()), r.Float64()*float64(m.Rect.Dy())
	sin, cos := math.Sincos(r.Float64() * math.Pi)
	long, wide := size*(1+r.Float64()), size
	base := [3]float64{40 + 190*r.Float64(), 40 + 180*r.Float64(), 40 + 180*r.Float64()}
	shade, stroke := 40*r.NormFloat64(), 10*r.Float64()
	period := unit * (4 + 20*r.Float64())
	for y := max(0, int(cy-long)); y < min(m.Rect.Dy(), int(cy+long)); y++ {
		for x := max(0, int(cx-long)); x < min(m.Rect.Dx(), int(cx+long)); x++ {
			u := ((float64(x)-cx)*cos + (float64(y)-cy)*sin) / long
			v := ((float64(y)-cy)*cos - (float64(x)-cx)*sin) / wide
			if u*u+v*v > 1 {
				continue
			}
			at := m.PixOffset(x, y)
			light := shade*u + stroke*wave(v*wide/period+u)
			for c := range 3 {
				m.Pix[at+c] = uint8(min(max(base[c]+light, 0), 255))
			}
		}
	}
}

// wave is a sine made of parabolas: this runs some hundred million times.
func wave(x float64) float64 {
	x -= math.Floor(x)
	if x < 0.5 {
		return 16 * x * (0.5 - x)
	}
	return -16 * (x - 0.5) * (1 - x)
}

// grain adds the same noise to all channels, at single pixels and in clumps of eight.
func grain(m *image.RGBA) {
	clumps := make([]int, m.Rect.Dx()/8+1)
	state := uint32(1)
	next := func() int {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		return int(state>>24&15) + int(state>>16&15) - 15
	}
	for y := range m.Rect.Dy() {
		if y%8 == 0 {
			for i := range clumps {
				clumps[i] = next() / 2
			}
		}
		for x := range m.Rect.Dx() {
			at, n := m.PixOffset(x, y), next()/3+clumps[x/8]
			for c := range 3 {
				m.Pix[at+c] = uint8(min(max(int(m.Pix[at+c])+n, 0), 255))
			}
		}
	}
}
