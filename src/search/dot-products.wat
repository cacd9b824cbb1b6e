;; Dot products of one vector of 16-bit numbers with many of 8-bit numbers: the whole of the semantic scan.
;; Memory: the query at $query (2 bytes a number), the rows at $rows (1 byte a number), the answers at $out (4 bytes each).
;; A row takes 32 numbers a step, in two sums that do not wait for each other; $dim is a multiple of 32.
(module
  (memory (export "memory") 1)
  (func (export "dot") (param $query i32) (param $rows i32) (param $out i32) (param $count i32) (param $dim i32)
    (local $end i32) (local $rowEnd i32) (local $q i32) (local $one v128) (local $two v128) (local $row v128)
    (local.set $end (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $each
        (br_if $done (i32.ge_u (local.get $out) (local.get $end)))
        (local.set $one (v128.const i32x4 0 0 0 0))
        (local.set $two (v128.const i32x4 0 0 0 0))
        (local.set $q (local.get $query))
        (local.set $rowEnd (i32.add (local.get $rows) (local.get $dim)))
        (loop $along
          (local.set $row (v128.load (local.get $rows)))
          (local.set $one (i32x4.add (local.get $one)
            (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $row)) (v128.load (local.get $q)))))
          (local.set $two (i32x4.add (local.get $two)
            (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $row)) (v128.load offset=16 (local.get $q)))))
          (local.set $row (v128.load offset=16 (local.get $rows)))
          (local.set $one (i32x4.add (local.get $one)
            (i32x4.dot_i16x8_s (i16x8.extend_low_i8x16_s (local.get $row)) (v128.load offset=32 (local.get $q)))))
          (local.set $two (i32x4.add (local.get $two)
            (i32x4.dot_i16x8_s (i16x8.extend_high_i8x16_s (local.get $row)) (v128.load offset=48 (local.get $q)))))
          (local.set $q (i32.add (local.get $q) (i32.const 64)))
          (local.set $rows (i32.add (local.get $rows) (i32.const 32)))
          (br_if $along (i32.lt_u (local.get $rows) (local.get $rowEnd))))
        (local.set $one (i32x4.add (local.get $one) (local.get $two)))
        (i32.store (local.get $out)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $one)) (i32x4.extract_lane 1 (local.get $one)))
            (i32.add (i32x4.extract_lane 2 (local.get $one)) (i32x4.extract_lane 3 (local.get $one)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br $each)))))
